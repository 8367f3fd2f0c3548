"""Benchmarks of faults: one of two ranks is killed in the middle of training, at a random moment."""

import sys

from rows import SOURCE, Row, figure, program, script


def fault_row(name, value, **more):
    """Python's ranks take seconds to start, so fewer of them are killed."""

    def killing(times, side):
        return [sys.executable, str(SOURCE / "end_a_rank.py"), str(times), *side("training_step", "--for_ever")]

    return Row(
        name=name,
        peer_name="Accelerate (gloo)",
        unit="ms",
        ours=lambda quick: killing(5 if quick else 200, program),
        peer=lambda quick: killing(2 if quick else 20, script),
        value=value,
        same_work=False,
        most_pairs=1,
        **more,
    )


FAULT_ROWS = [
    fault_row("a killed rank is noticed, 99 of 100 times", figure("notice_p99_seconds", 1e3), goal=50),
    fault_row("2 new ranks after that, to their first step", figure("start_seconds", 1e3), goal=1000),
]
