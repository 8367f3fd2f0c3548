"""Benchmarks of the sum of a tensor over ranks, against gloo, which is what torch.distributed has for the CPU.

The limit is one copy of the tensor on each rank.
"""

from rows import Row, figure, milliseconds, program, script

MEBI = 1 << 20


def allreduce_row(size, num_bytes, repeats, our_options=(), dtype="float32", name=None, num_processes=2, **more):
    def arguments(quick):
        return "--bytes", num_bytes, "--repeats", max(2, repeats // 10) if quick else repeats, "--type", dtype

    kind = "" if dtype == "float32" else f" {dtype}"
    common = {
        "name": name or f"allreduce of {size}{kind}, {num_processes} ranks" + "".join(f", {o[2:]}" for o in our_options),
        "unit": "CPU us",
        "limit": lambda quick: program("allreduce", *arguments(quick), "--copy"),
        "value": lambda run: run.cpu / num_processes / run.work * 1e6,
    }
    return Row(
        peer_name="torch.distributed (gloo)",
        ours=lambda quick: program("allreduce", *arguments(quick), *our_options),
        peer=lambda quick: script("allreduce", *arguments(quick)),
        num_processes=num_processes,
        **common | more,
    )


ALLREDUCE_ROWS = [
    allreduce_row("4 KiB", 4 << 10, 2000, target=50),
    allreduce_row("64 KiB", 64 << 10, 1000, target=50),
    allreduce_row("1 MiB", MEBI, 200, target=10, of_limit=0.7),
    allreduce_row("25 MiB", 25 * MEBI, 30, target=10, of_limit=0.7),
    allreduce_row("64 MiB", 64 * MEBI, 10, target=10, of_limit=0.7),
    allreduce_row("256 MiB", 256 * MEBI, 4),
    allreduce_row(
        "25 MiB", 25 * MEBI, 30, name="wall time of allreduce, 25 MiB, 2 ranks", unit="ms", value=milliseconds, target=5
    ),
    allreduce_row("25 MiB", 25 * MEBI, 30, our_options=("--private",)),
    *(allreduce_row("25 MiB", 25 * MEBI, 30, dtype=dtype, target=10) for dtype in ("bfloat16", "float16")),
    allreduce_row("64 KiB", 64 << 10, 1000, num_processes=4),
    allreduce_row("1 MiB", MEBI, 100, num_processes=4),
    allreduce_row("25 MiB", 25 * MEBI, 10, num_processes=4),
    allreduce_row(
        "64 KiB",
        64 << 10,
        1000,
        name="99 of 100 allreduces of 64 KiB, 4 ranks",
        num_processes=4,
        unit="ms",
        limit=None,
        value=figure("p99_seconds", 1e3),
        goal=5,
    ),
]
