"""Benchmarks of a training step: a small one, which is mostly calls, and a wide one, which is mostly moving and stepping."""

from rows import (
    Row,
    figure,
    mebibytes,
    microseconds_per_step,
    milliseconds,
    peak_mebibytes,
    processes,
    program,
    rows_of_both,
    script,
)


def small_step_rows(num_processes, target=None, **more):
    def arguments(quick):
        return "--steps", 200 if quick else 2000

    return rows_of_both(
        f"small-model step, {processes(num_processes)}",
        target,
        None,
        ours=lambda quick: program("training_step", *arguments(quick)),
        peer=lambda quick: script("training_step", *arguments(quick)),
        limit=(lambda quick: program("training_step", "--bare", *arguments(quick))) if num_processes == 1 else None,
        num_processes=num_processes,
        unit="us/step",
        value=microseconds_per_step,
        **more,
    )


def wide_arguments(quick):
    """6.3 million weights and 32 rows on each rank: as much moving and stepping as computing."""
    return "--wide", "--warmup", 10, "--steps", 10 if quick else 60


def wide_step_rows():
    return rows_of_both(
        "6.3M-weight step, 2 processes",
        2.1,
        1.8,
        ours=lambda quick: program("training_step", *wide_arguments(quick)),
        peer=lambda quick: script("training_step", *wide_arguments(quick)),
        limit=lambda quick: program("training_step", "--bare", *wide_arguments(quick)),
        num_processes=2,
        unit="ms",
        value=milliseconds,
    )


def pool_row(name, unit, value):
    """What the pool of memory for tensors gives, against the same program without it."""
    return Row(
        name=f"6.3M-weight step, 1 process, {name}",
        peer_name="without our pool (C++)",
        unit=unit,
        ours=lambda quick: program("training_step", *wide_arguments(quick)),
        peer=lambda quick: ["env", "ACCELERATE_TENSOR_MEMORY=system", *program("training_step", *wide_arguments(quick))],
        value=value,
    )


def memory_row(name, value, **more):
    return Row(
        name=f"{name} memory per rank, 2 processes",
        peer_name="Accelerate",
        unit="MiB",
        ours=lambda quick: program("training_step", "--steps", 100),
        peer=lambda quick: script("training_step", "--steps", 100),
        limit=lambda quick: program("training_step", "--bare", "--steps", 100),
        value=value,
        num_processes=2,
        **more,
    )


STEP_ROWS = [
    *small_step_rows(1, target=2),
    *small_step_rows(2),
    *wide_step_rows(),
    pool_row("time", "ms", milliseconds),
    pool_row("page faults", "faults", figure("page_faults")),
    pool_row("memory at most", "MiB", peak_mebibytes),
    memory_row("resident", mebibytes, target=2),
    memory_row("proportional", figure("proportional_bytes", 2**-20), target=2),
]
