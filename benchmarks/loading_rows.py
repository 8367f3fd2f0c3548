"""Benchmarks of the way to the first step: loading a large model, and starting ranks."""

import texts
from measure import free_port
from rows import COMMAND, PROGRAM_MEBIBYTES, Row, milliseconds, peak_mebibytes, program, script, whole_milliseconds


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


def launched_row():
    """From the start of the launcher to the end of the first step of the slower rank."""
    first_step = "--from_start", "--warmup", 0, "--steps", 1

    def ours(quick):
        return [COMMAND, "launch", "--cpu", "--num_processes", "2", *program("training_step", *first_step)]

    def peer(quick):
        python, *training_step = script("training_step", *first_step)
        torchrun = "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(free_port())
        return [python, *torchrun, *training_step]

    return Row(
        name="launch of 2 ranks, to end of first step",
        peer_name="torchrun, Accelerate",
        unit="ms",
        ours=ours,
        peer=peer,
        value=whole_milliseconds,
        target=20,
    )


LOADING_ROWS = [
    large_loading_row("from_pretrained of 440 MB", "ms", milliseconds, target=5),
    large_loading_row(
        "memory at most, loading and using 440 MB",
        "MiB",
        peak_mebibytes,
        "--use_all",
        target=1,
        goal=1.1 * 418 + PROGRAM_MEBIBYTES,
    ),
    launched_row(),
    loading_row(
        "start to first training step, MiniLM",
        "ms",
        whole_milliseconds,
        lambda: texts.fetch("minilm"),
        "--first_step",
        target=5,
        rehearsed=True,
    ),
]
