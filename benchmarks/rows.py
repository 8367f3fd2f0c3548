"""The benchmarks: what runs on each side, what is read from it, and the ratio we want to reach."""

import dataclasses
import pathlib
import sys
from collections.abc import Callable

import texts

SOURCE = pathlib.Path(__file__).resolve().parent
BUILD = SOURCE.parent / "build"

# What a program that has loaded libtorch takes before it does anything.
PROGRAM_MEBIBYTES = 107


def program(name, *arguments):
    """A C++ side: build/bin/bench_<name>."""
    return [str(BUILD / "bin" / f"bench_{name}"), *map(str, arguments)]


def script(name, *arguments):
    """A Python side: benchmarks/python/<name>.py."""
    return [sys.executable, str(SOURCE / "python" / f"{name}.py"), *map(str, arguments)]


def tuned(command):
    """A side whose malloc keeps what it has had, as an expert would set it."""
    return ["env", "MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=67108864", *command, "--tuned"]


@dataclasses.dataclass
class Row:
    name: str
    peer_name: str
    unit: str
    ours: Callable  # commands, given whether the run is a quick one
    peer: Callable
    value: Callable  # the figure of a Run, in `unit`
    limit: Callable | None = None  # a side that does the least that any implementation has to
    target: float | None = None  # for the ratio
    goal: float | None = None  # for the figure of ours
    num_processes: int = 1
    peer_processes: int | None = None  # if not as many
    rehearsed: bool = False  # where new memory is most of the work, and costs what the program before has left of it
    same_work: bool = True  # on both sides, so that their losses must be equal
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


def rows_of_both(name, target, tuned_target, ours, peer, num_processes=1, **more):
    """A row against Accelerate as it comes, and one against Accelerate as an expert sets it up."""
    expert = "Accelerate, tuned"
    common = more | {"ours": ours, "num_processes": num_processes}
    return [
        Row(name=name, peer_name="Accelerate", peer=peer, target=target, **common),
        Row(name=f"{name}, tuned", peer_name=expert, peer=lambda quick: tuned(peer(quick)), target=tuned_target, **common),
    ]


def step_rows(num_processes, target=None, **more):
    return rows_of_both(
        f"small-model step, {num_processes} process{'es' if num_processes > 1 else ''}",
        target,
        None,
        ours=lambda quick: program("training_step", *step_counts(quick)),
        peer=lambda quick: script("training_step", *step_counts(quick)),
        num_processes=num_processes,
        unit="us/step",
        value=microseconds_per_step,
        **more,
    )


def wide_step_rows():
    """6.3 million weights and 32 rows on each of two ranks: as much moving and stepping as computing."""

    def arguments(quick):
        return "--wide", "--warmup", 10, "--steps", 10 if quick else 100

    return rows_of_both(
        "6.3M-weight step, 2 processes",
        2.1,
        1.8,
        ours=lambda quick: program("training_step", *arguments(quick)),
        peer=lambda quick: script("training_step", *arguments(quick)),
        num_processes=2,
        unit="ms",
        value=milliseconds,
    )


def language_model_rows(name, target, tuned_target, rows, length, steps, words, **sizes):
    """Training a GPT on two ranks, each with `rows` texts of `length` words in a step."""

    def arguments(quick):
        checkpoint = texts.gpt(name.replace(" ", "_"), vocab_size=words, n_positions=length, **sizes)
        shape = "--language_model", "--rows", rows, "--length", length, "--words", words
        return "--checkpoint", checkpoint, *shape, "--steps", max(5, steps // 10) if quick else steps

    return rows_of_both(
        f"{name} step, 2 processes",
        target,
        tuned_target,
        ours=lambda quick: program("fine_tuning", *arguments(quick)),
        peer=lambda quick: script("fine_tuning", *arguments(quick)),
        num_processes=2,
        unit="ms",
        value=lambda run: run.wall / (run.work / rows) * 1e3,
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


def fine_tune(side):
    return side("fine_tuning", "--checkpoint", texts.fetch("minilm"))


def fine_tuning_rows(num_processes, target, tuned_target):
    return rows_of_both(
        f"fine-tuning MiniLM, {num_processes} process{'es' if num_processes > 1 else ''}",
        target,
        tuned_target,
        ours=lambda quick: fine_tune(program),
        peer=lambda quick: fine_tune(script),
        num_processes=num_processes,
        unit="samples/s",
        value=samples_per_second,
        higher_is_better=True,
    )


def loading_row(name, unit, value, checkpoint, *options, **more):
    return Row(
        name=name,
        peer_name="Transformers",
        unit=unit,
        ours=lambda quick: program("fine_tuning", "--checkpoint", checkpoint(), *options),
        peer=lambda quick: script("fine_tuning", "--checkpoint", checkpoint(), *options),
        value=value,
        **more,
    )


def large_loading_row(name, unit, value, *options, **more):
    """The limit is a program that only reads the bytes of the file."""
    return loading_row(
        name,
        unit,
        value,
        texts.bert_base,
        "--load",
        *options,
        limit=lambda quick: program("fine_tuning", "--checkpoint", texts.bert_base(), "--bare"),
        rehearsed=True,
        **more,
    )


def bare(quick):
    return program("training_step", "--bare", *step_counts(quick))


ROWS = [
    *step_rows(1, target=2, limit=bare),
    *step_rows(2),
    *wide_step_rows(),
    *language_model_rows(
        "GPT 0.2M", 2.7, 2.2, rows=8, length=16, steps=200, words=512, n_embd=64, n_layer=3, n_head=4
    ),
    *language_model_rows(
        "GPT 17M", 1.2, 1.08, rows=4, length=128, steps=10, words=8192, n_embd=384, n_layer=8, n_head=6
    ),
    allreduce_row("4 KiB", 4 << 10, 2000, target=50),
    allreduce_row("64 KiB", 64 << 10, 1000, target=50),
    allreduce_row("1 MiB", 1 << 20, 200, target=10),
    allreduce_row("25 MiB", 25 << 20, 30, target=10),
    allreduce_row("64 MiB", 64 << 20, 10, target=10),
    allreduce_row("25 MiB", 25 << 20, 30, our_options=("--private",)),
    allreduce_row("64 KiB", 64 << 10, 500, num_processes=4),
    Row(
        name="99 of 100 allreduces of 64 KiB, 4 ranks",
        peer_name="torch.distributed (gloo)",
        unit="ms",
        ours=lambda quick: program("allreduce", "--bytes", 64 << 10, "--repeats", 500),
        peer=lambda quick: script("allreduce", "--bytes", 64 << 10, "--repeats", 500),
        value=lambda run: run.p99 * 1e3,
        goal=5,
        num_processes=4,
    ),
    loader_row("TensorDataset loader, 0 workers", 0, target=10),
    loader_row("TensorDataset loader, 2 workers", 2, target=50),
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
    *fine_tuning_rows(1, 1.7, 1.2),
    *fine_tuning_rows(2, 2.3, 1.7),
    Row(
        name="the same, a rank of 2 against 1 alone",
        peer_name="one process (C++)",
        unit="samples/s",
        ours=lambda quick: fine_tune(program),
        peer=lambda quick: fine_tune(program),
        value=samples_per_second,
        higher_is_better=True,
        target=0.92,
        num_processes=2,
        peer_processes=1,
        same_work=False,
    ),
    large_loading_row("from_pretrained of 440 MB", "ms", milliseconds, target=5),
    large_loading_row("memory at most, loading and using 440 MB", "MiB", peak_mebibytes, "--use_all", target=1, goal=1.1 * 418 + PROGRAM_MEBIBYTES),
    Row(
        name="2 ranks, start to end of first step",
        peer_name="Accelerate",
        unit="ms",
        ours=lambda quick: program("training_step", "--from_start", "--warmup", 0, "--steps", 1),
        peer=lambda quick: script("training_step", "--from_start", "--warmup", 0, "--steps", 1),
        value=whole_milliseconds,
        target=20,
        num_processes=2,
    ),
    loading_row("start to first training step, MiniLM", "ms", whole_milliseconds, lambda: texts.fetch("minilm"), "--first_step", target=5),
]
