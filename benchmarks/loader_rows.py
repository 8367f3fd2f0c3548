"""Benchmarks of data loaders. Cheap samples, so that the loader itself is what counts; the limit copies their bytes."""

import texts
from rows import Row, figure, program, samples_per_cpu_second, samples_per_second, script


def loader_row(name, workers, *options, our_options=(), **more):
    """`options` are of both sides."""

    def arguments(quick):
        return "--workers", workers, "--epochs", 1 if quick else 3, *options

    common = {
        "peer_name": "torch DataLoader",
        "unit": "samples/s",
        "peer": lambda quick: script("data_loader", *arguments(quick)),
        "limit": lambda quick: program("data_loader", *arguments(quick), "--bare"),
        "value": samples_per_second,
        "higher_is_better": True,
    }
    return Row(name, ours=lambda quick: program("data_loader", *arguments(quick), *our_options), **common | more)


def libtorch_row(workers):
    """A user's data set of single samples, read by libtorch's own loader."""
    return loader_row(
        f"loader of single samples, {workers} workers, C++",
        workers,
        "--in_order",
        our_options=("--one_by_one",),
        peer_name="libtorch's DataLoader",
        peer=lambda quick: program("data_loader", "--workers", workers, "--epochs", 1 if quick else 3, "--libtorch"),
    )


def first_batch_row(workers):
    return loader_row(
        f"TensorDataset loader, {workers} workers, first batch",
        workers,
        unit="ms",
        value=figure("first_batch_seconds", 1e3),
        limit=None,
        higher_is_better=False,
        target=20,
    )


def text_row(workers):
    """Real reviews as tokens, each batch padded to its longest."""

    def arguments(quick):
        files = "--texts", texts.real_texts(megabytes=1), "--checkpoint", texts.fetch("minilm")
        return "--workers", workers, "--epochs", 1 if quick else 3, *files

    return Row(
        name=f"tokens padded to batches, {workers} workers",
        peer_name="torch DataLoader, Transformers",
        unit="samples/s",
        ours=lambda quick: program("data_loader", *arguments(quick)),
        peer=lambda quick: script("data_loader", *arguments(quick)),
        value=samples_per_second,
        higher_is_better=True,
    )


LOADER_ROWS = [
    loader_row("TensorDataset loader, 0 workers", 0, target=10),
    loader_row("TensorDataset loader, 1 worker", 1, target=50),
    loader_row("TensorDataset loader, 2 workers", 2, target=50),
    *(
        loader_row(
            f"TensorDataset loader, {workers} workers, per CPU second",
            workers,
            unit="per CPU s",
            value=samples_per_cpu_second,
            target=target,
        )
        for workers, target in ((0, 10), (2, 50))
    ),
    *(
        loader_row(f"prepared loader, {workers} workers", workers, "--prepared", peer_name="Accelerate's DataLoader")
        for workers in (0, 2)
    ),
    first_batch_row(2),
    loader_row("loader of single samples, 0 workers", 0, our_options=("--one_by_one",)),
    loader_row("loader of single samples, 2 workers", 2, our_options=("--one_by_one",)),
    libtorch_row(0),
    libtorch_row(2),
    text_row(0),
    text_row(2),
]
