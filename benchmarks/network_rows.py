"""Benchmarks between machines: two network namespaces with two ranks each, whose links carry 200 Mbit/s.

The network is the bottleneck, so the ratio says how often a byte crosses it. Making namespaces takes root; without it
there are no rows.
"""

import sys

from rows import SOURCE, Row, milliseconds, program, script

sys.path.append(str(SOURCE.parent / "tools"))
import network_machines  # noqa: E402

RATE = "200mbit"


def across(side):
    return [sys.executable, str(SOURCE / "across_machines.py"), RATE, *side]


def arguments(quick):
    return "--bytes", 25 << 20, "--repeats", 2 if quick else 5


NETWORK_ROWS = [
    Row(
        name="allreduce of 25 MiB, 2 x 2 ranks",
        peer_name="torch.distributed (gloo)",
        unit="ms",
        ours=lambda quick: across(program("allreduce", *arguments(quick))),
        peer=lambda quick: across(script("allreduce", *arguments(quick))),
        value=milliseconds,
        target=1.5,
    )
]
if not network_machines.can_be_made():
    NETWORK_ROWS = []
