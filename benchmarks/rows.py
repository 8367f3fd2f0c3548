"""The benchmarks: what runs on each side, what is read from it, and the ratio we want to reach."""

import dataclasses
import pathlib
import sys
from collections.abc import Callable

import texts

SOURCE = pathlib.Path(__file__).resolve().parent
BUILD = SOURCE.parent / "build"


def program(name, *arguments):
    """A C++ side: build/bin/bench_<name>."""
    return [str(BUILD / "bin" / f"bench_{name}"), *map(str, arguments)]


def script(name, *arguments):
    """A Python side: benchmarks/python/<name>.py."""
    return [sys.executable, str(SOURCE / "python" / f"{name}.py"), *map(str, arguments)]


@dataclasses.dataclass
class Row:
    name: str
    peer_name: str
    unit: str
    ours: Callable  # commands, given whether the run is a quick one
    peer: Callable
    value: Callable  # the figure of a Run, in `unit`
    limit: Callable | None = None  # a side that does the least that any implementation has to
    target: float | None = None
    num_processes: int = 1
    higher_is_better: bool = False

    def better(self, ours, peer):
        return ours / peer if self.higher_is_better else peer / ours


def microseconds_per_step(run):
    return run.wall / run.work * 1e6


def samples_per_second(run):
    return run.work / run.wall


def mebibytes(run):
    return run.resident / 2**20


def peak_mebibytes(run):
    return run.peak / 2**20


def milliseconds(run):
    return run.wall / run.work * 1e3


def whole_milliseconds(run):
    return run.wall * 1e3


def megabytes_per_second(run):
    return run.work / 1e6 / run.wall


def step_counts(quick):
    return ("--steps", 200 if quick else 2000)


def step_row(name, peer_name, peer_options, **more):
    return Row(
        name=name,
        peer_name=peer_name,
        unit="us/step",
        ours=lambda quick: program("training_step", *step_counts(quick)),
        peer=lambda quick: script("training_step", *step_counts(quick), *peer_options),
        value=microseconds_per_step,
        **more,
    )


def wide_step_row(name, peer_name, peer_options, **more):
    """6.3 million weights and 32 rows on each of two ranks: as much moving and stepping as computing."""

    def arguments(quick):
        return "--wide", "--warmup", 10, "--steps", 10 if quick else 100

    return Row(
        name=name,
        peer_name=peer_name,
        unit="ms",
        ours=lambda quick: program("training_step", *arguments(quick)),
        peer=lambda quick: script("training_step", *arguments(quick), *peer_options),
        value=milliseconds,
        num_processes=2,
        **more,
    )


def allreduce_row(size, num_bytes, repeats, target=None, our_options=(), num_processes=2):
    def arguments(quick):
        return "--bytes", num_bytes, "--repeats", max(2, repeats // 10) if quick else repeats

    return Row(
        name=f"allreduce of {size}, {num_processes} ranks" + "".join(f", {option[2:]}" for option in our_options),
        peer_name="torch.distributed (gloo)",
        unit="CPU us",
        ours=lambda quick: program("allreduce", *arguments(quick), *our_options),
        peer=lambda quick: script("allreduce", *arguments(quick)),
        limit=lambda quick: program("allreduce", *arguments(quick), "--copy"),
        value=lambda run: run.cpu / num_processes / run.work * 1e6,
        target=target,
        num_processes=num_processes,
    )


def loader_row(name, workers, *our_options, target=None):
    def arguments(quick):
        return "--workers", workers, "--epochs", 1 if quick else 3

    return Row(
        name=name,
        peer_name="torch DataLoader",
        unit="samples/s",
        ours=lambda quick: program("data_loader", *arguments(quick), *our_options),
        peer=lambda quick: script("data_loader", *arguments(quick)),
        limit=lambda quick: program("data_loader", *arguments(quick), "--bare"),
        value=samples_per_second,
        higher_is_better=True,
        target=target,
    )


def optimizer_row(name, shape):
    def arguments(quick):
        return "--shape", shape, "--steps", 5 if quick else 40

    return Row(
        name=f"AdamW step, {name}",
        peer_name="torch::optim::AdamW (C++)",
        unit="us/step",
        ours=lambda quick: program("optimizer_step", *arguments(quick)),
        peer=lambda quick: program("optimizer_step", *arguments(quick), "--plain"),
        limit=lambda quick: program("optimizer_step", *arguments(quick), "--copy"),
        value=microseconds_per_step,
        target=3,
    )


def clipped_step_row(name, peer_name, peer, target, our_options=(), num_processes=1):
    """AdamW of 21M weights behind clip_grad_norm_, in CPU time of a rank."""

    def arguments(quick):
        return "--clip", "--steps", 5 if quick else 40

    return Row(
        name=name,
        peer_name=peer_name,
        unit="CPU ms",
        ours=lambda quick: program("optimizer_step", *arguments(quick), *our_options),
        peer=lambda quick: peer(*arguments(quick)),
        value=lambda run: run.cpu / num_processes / run.work * 1e3,
        target=target,
        num_processes=num_processes,
    )


def tokenizer_row(model, asset, threads):
    def arguments(quick):
        files = texts.fetch(f"{asset}-tokenizer"), texts.real_texts(megabytes=1 if quick else 10)
        return "--tokenizer", files[0] / "tokenizer.json", "--texts", files[1], "--threads", threads

    return Row(
        name=f"tokenize, {model}, {threads} thread{'s' if threads > 1 else ''}",
        peer_name="tokenizers (Rust)",
        unit="MB/s",
        ours=lambda quick: program("tokenize_texts", *arguments(quick)),
        peer=lambda quick: script("tokenize_texts", *arguments(quick)),
        value=megabytes_per_second,
        higher_is_better=True,
        target=2,
    )


def fine_tuning_row(name, peer_name, peer_options=(), **more):
    return Row(
        name=name,
        peer_name=peer_name,
        unit="samples/s",
        ours=lambda quick: program("fine_tuning", "--checkpoint", texts.fetch("minilm")),
        peer=lambda quick: script("fine_tuning", "--checkpoint", texts.fetch("minilm"), *peer_options),
        value=samples_per_second,
        higher_is_better=True,
        **more,
    )


def loading_row(name, unit, value, checkpoint, option, target):
    return Row(
        name=name,
        peer_name="Transformers",
        unit=unit,
        ours=lambda quick: program("fine_tuning", "--checkpoint", checkpoint(), option),
        peer=lambda quick: script("fine_tuning", "--checkpoint", checkpoint(), option),
        value=value,
        target=target,
    )


def bare(quick):
    return program("training_step", "--bare", *step_counts(quick))


ROWS = [
    step_row("small-model step, 1 process", "Accelerate", (), limit=bare, target=2),
    step_row("small-model step, 1 process, tuned", "Accelerate, fused AdamW", ("--tuned",), limit=bare),
    step_row("small-model step, 2 processes", "Accelerate", (), num_processes=2),
    step_row("small-model step, 2 processes, tuned", "Accelerate, fused, static graph", ("--tuned",), num_processes=2),
    wide_step_row("6.3M-weight step, 2 processes", "Accelerate", (), target=2.1),
    wide_step_row("6.3M-weight step, 2 processes, tuned", "Accelerate, fused, static graph", ("--tuned",), target=1.8),
    allreduce_row("4 KiB", 4 << 10, 2000, target=50),
    allreduce_row("64 KiB", 64 << 10, 1000, target=50),
    allreduce_row("1 MiB", 1 << 20, 200, target=10),
    allreduce_row("25 MiB", 25 << 20, 30, target=10),
    allreduce_row("64 MiB", 64 << 20, 10, target=10),
    allreduce_row("25 MiB", 25 << 20, 30, our_options=("--private",)),
    allreduce_row("64 KiB", 64 << 10, 500, num_processes=4),
    loader_row("TensorDataset loader, 0 workers", 0, target=5),
    loader_row("TensorDataset loader, 2 workers", 2, target=5),
    loader_row("loader of single samples, 0 workers", 0, "--one_by_one"),
    loader_row("loader of single samples, 2 workers", 2, "--one_by_one"),
    optimizer_row("21M weights in 20 tensors", "large"),
    optimizer_row("0.5M weights in 150 tensors", "small"),
    clipped_step_row(
        "clipping and AdamW, 21M weights",
        "torch.optim.AdamW",
        lambda *arguments: script("optimizer_step", *arguments),
        target=3.5,
    ),
    clipped_step_row(
        "the same, shared by 2 ranks",
        "each rank all of it (C++)",
        lambda *arguments: program("optimizer_step", *arguments),
        target=1.5,
        our_options=("--shared",),
        num_processes=2,
    ),
    Row(
        name="resident memory per rank, 2 processes",
        peer_name="Accelerate",
        unit="MiB",
        ours=lambda quick: program("training_step", "--steps", 100),
        peer=lambda quick: script("training_step", "--steps", 100),
        limit=lambda quick: program("training_step", "--bare", "--steps", 100),
        value=mebibytes,
        target=2,
        num_processes=2,
    ),
    *(
        tokenizer_row(model, asset, threads)
        for model, asset in (("WordPiece", "minilm"), ("byte-level BPE", "gpt2"), ("Unigram", "t5"))
        for threads in (1, 2)
    ),
    fine_tuning_row("fine-tuning MiniLM, 1 process", "Accelerate", target=1.4),
    fine_tuning_row("fine-tuning MiniLM, 1 process, tuned", "Accelerate, fused AdamW", ("--tuned",), target=1),
    fine_tuning_row("fine-tuning MiniLM, 2 processes", "Accelerate", target=2.3, num_processes=2),
    fine_tuning_row(
        "fine-tuning MiniLM, 2 processes, tuned", "Accelerate, fused AdamW", ("--tuned",), target=1.7, num_processes=2
    ),
    loading_row("from_pretrained of 440 MB", "ms", milliseconds, texts.bert_base, "--load", target=5),
    loading_row("memory at most, loading 440 MB", "MiB", peak_mebibytes, texts.bert_base, "--load", target=1),
    loading_row("start to first training step", "ms", whole_milliseconds, lambda: texts.fetch("minilm"), "--first_step", target=5),
]
