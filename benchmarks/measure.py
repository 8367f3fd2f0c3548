"""Runs the two sides of a benchmark in turn and says how many times better ours is.

A side is a command that prints one line of JSON: `work` (steps, samples), `wall_seconds` and `cpu_seconds` for it,
`losses` by which both sides prove that they computed the same, `resident_bytes` and `peak_bytes`; some add `p99_seconds`. Sides of
several ranks are started together, with the variables that torchrun sets.
"""

import dataclasses
import json
import os
import random
import resource
import socket
import statistics
import subprocess
import time

TIMEOUT_SECONDS = 300
LOSS_TOLERANCE = 1e-5  # relative
FOREIGN_LIMIT = 0.05  # share of the machine that others may use during a pair


class BenchmarkFailure(Exception):
    pass


@dataclasses.dataclass
class Run:
    """What one run of a side gave: the slowest rank's time, everyone's CPU time, the mean of their memory."""

    work: int
    wall: float
    cpu: float
    resident: float
    losses: list
    peak: float  # the most memory that a rank ever had
    foreign: float  # share of the machine's CPU that was used by others meanwhile
    p99: float | None  # seconds that 99 of 100 operations stayed below on the slowest rank, where that is measured


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _busy_seconds():
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _rank_environment(rank, num_processes, port):
    environment = os.environ | {"ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1"}
    if num_processes == 1:
        return environment
    return environment | {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(num_processes),
        "LOCAL_WORLD_SIZE": str(num_processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo",
    }


def run_side(command, num_processes=1):
    """Starts `command` on every rank, waits for all, and returns the Run."""
    port = _free_port()
    busy, own, began = _busy_seconds(), _children_seconds(), time.monotonic()
    ranks = [
        subprocess.Popen(
            command,
            env=_rank_environment(rank, num_processes, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(num_processes)
    ]
    results = []
    try:
        for rank in ranks:
            output, errors = rank.communicate(timeout=TIMEOUT_SECONDS)
            if rank.returncode != 0:
                raise BenchmarkFailure(f"{' '.join(command)} ended with {rank.returncode}:\n{errors[-2000:]}")
            results.append(json.loads(output.strip().splitlines()[-1]))
    except subprocess.TimeoutExpired:
        raise BenchmarkFailure(f"{' '.join(command)} took longer than {TIMEOUT_SECONDS} s") from None
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    machine = (time.monotonic() - began) * os.cpu_count()
    foreign = (_busy_seconds() - busy) - (_children_seconds() - own)
    return Run(
        work=results[0]["work"],
        wall=max(result["wall_seconds"] for result in results),
        cpu=sum(result["cpu_seconds"] for result in results),
        resident=statistics.mean(result["resident_bytes"] for result in results),
        losses=[loss for result in results for loss in result["losses"]],
        peak=max(result["peak_bytes"] for result in results),
        foreign=max(0.0, foreign / machine),
        p99=max((result["p99_seconds"] for result in results if "p99_seconds" in result), default=None),
    )


def check_parity(ours, peer):
    """Speed counts only where both sides computed the same."""
    if ours.work != peer.work or len(ours.losses) != len(peer.losses):
        mine, theirs = f"{ours.work} with {len(ours.losses)} losses", f"{peer.work} with {len(peer.losses)}"
        raise BenchmarkFailure(f"the sides did not do the same work: ours {mine}, the peer {theirs}")
    for index, (mine, theirs) in enumerate(zip(ours.losses, peer.losses)):
        if abs(mine - theirs) > LOSS_TOLERANCE * max(abs(theirs), 1e-8):
            raise BenchmarkFailure(f"the sides do not agree: loss {index} is {mine!r}, the peer's {theirs!r}")


@dataclasses.dataclass
class Side:
    command: list
    num_processes: int
    rehearsed: bool = False  # each run that counts follows one of the same command

    def run(self):
        if self.rehearsed:
            run_side(self.command, self.num_processes)
        return run_side(self.command, self.num_processes)


def measure_pair(ours, peer, ours_first):
    if ours_first:
        mine, theirs = ours.run(), peer.run()
    else:
        theirs, mine = peer.run(), ours.run()
    return mine, theirs


def disturbed(pair):
    return max(run.foreign for run in pair) > FOREIGN_LIMIT


def measure_pairs(ours, peer, pairs, same_work=True):
    """Pairs of Runs, ours and the peer's, taking turns at being first. Pairs that others disturbed are measured again,
    up to as many times in all as there are pairs."""
    measured, repeats = [], 0
    while len(measured) < pairs:
        pair = measure_pair(ours, peer, len(measured) % 2 == 0)
        if same_work:
            check_parity(*pair)
        if disturbed(pair) and repeats < pairs:
            repeats += 1
            continue
        measured.append(pair)
    return measured


def median_with_interval(values, resamples=2000):
    """Median and its 95 % interval by bootstrap."""
    generator = random.Random(0)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(resamples))
    return statistics.median(values), medians[int(0.025 * resamples)], medians[int(0.975 * resamples) - 1]
