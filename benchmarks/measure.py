"""Runs the two sides of a benchmark in turn and says how many times better ours is.

A side is a command that prints one line of JSON: `work` (steps, samples), `wall_seconds` and `cpu_seconds` for it,
`losses` by which both sides prove that they computed the same, `resident_bytes` and `peak_bytes`; every other number is a
figure of that side's own. Sides of several ranks are started together, with the variables that torchrun sets; those that a
launcher starts print a line for each `rank`. A side that measures from its start leaves `cpu_seconds` empty, for that is all
that its processes have used.
"""

import dataclasses
import functools
import json
import os
import random
import resource
import signal
import socket
import statistics
import subprocess
import time

TIMEOUT_SECONDS = 600
LOSS_TOLERANCE = 1e-5  # relative
FOREIGN_LIMIT = 0.05  # share of the machine that others may use during a pair
OF_EVERY_SIDE = ("rank", "work", "wall_seconds", "cpu_seconds", "losses", "resident_bytes", "peak_bytes")


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
    figures: dict  # all other numbers of the side, each that of the rank where it is largest


def free_port():
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


def rank_environment(rank, num_processes, port):
    environment = os.environ | {
        "ACCELERATE_USE_CPU": "1",
        "OMP_NUM_THREADS": "1",
        "BENCH_STARTED": str(time.clock_gettime(time.CLOCK_BOOTTIME)),
    }
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


def _results(output):
    """The lines of JSON that a process printed: its own, or those of all ranks that it has started."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def _figures(results):
    names = {name for result in results for name in result if name not in OF_EVERY_SIDE}
    return {name: max(result[name] for result in results if name in result) for name in sorted(names)}


def _aborted_at_exit(status, output, errors):
    """A process of Python's torch 2.13 with a group over gloo sometimes aborts while Python ends, after its result."""
    return status == -signal.SIGABRT and "without an active exception" in errors and bool(_results(output))


def run_side(command, num_processes=1):
    """Starts `command` on every rank, waits for all, and returns the Run."""
    port = free_port()
    busy, own, began = _busy_seconds(), _children_seconds(), time.monotonic()
    ranks = [
        subprocess.Popen(
            command,
            env=rank_environment(rank, num_processes, port),
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
            if rank.returncode != 0 and not _aborted_at_exit(rank.returncode, output, errors):
                raise BenchmarkFailure(f"{' '.join(command)} ended with {rank.returncode}:\n{errors[-2000:]}")
            results += _results(output)
    except json.JSONDecodeError as error:
        raise BenchmarkFailure(f"{' '.join(command)} has printed a broken result: {error}") from None
    except subprocess.TimeoutExpired:
        raise BenchmarkFailure(f"{' '.join(command)} took longer than {TIMEOUT_SECONDS} s") from None
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    if not results:
        raise BenchmarkFailure(f"{' '.join(command)} has not printed a result")
    results.sort(key=lambda result: result.get("rank", 0))
    machine = (time.monotonic() - began) * os.cpu_count()
    used = _children_seconds() - own
    foreign = _busy_seconds() - busy - used
    return Run(
        work=results[0]["work"],
        wall=max(result["wall_seconds"] for result in results),
        cpu=used if results[0]["cpu_seconds"] is None else sum(result["cpu_seconds"] for result in results),
        resident=statistics.mean(result["resident_bytes"] for result in results),
        losses=[loss for result in results for loss in result["losses"]],
        peak=max(result["peak_bytes"] for result in results),
        foreign=max(0.0, foreign / machine),
        figures=_figures(results),
    )


def check_parity(ours, peer):
    """Speed counts only where both sides computed the same."""
    if ours.work != peer.work or len(ours.losses) != len(peer.losses):
        mine, theirs = f"{ours.work} with {len(ours.losses)} losses", f"{peer.work} with {len(peer.losses)}"
        raise BenchmarkFailure(f"the sides did not do the same work: ours {mine}, the peer {theirs}")
    for index, (mine, theirs) in enumerate(zip(ours.losses, peer.losses)):
        if abs(mine - theirs) > LOSS_TOLERANCE * max(abs(theirs), 1e-8):
            raise BenchmarkFailure(f"the sides do not agree: loss {index} is {mine!r}, the peer's {theirs!r}")


@dataclasses.dataclass(frozen=True)
class Side:
    command: tuple
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


@functools.cache
def measure_pairs(ours, peer, pairs, same_work=True):
    """Pairs of Runs, ours and the peer's, taking turns at being first. Pairs that others disturbed are measured again,
    up to as many times in all as there are pairs. Rows that look at other figures of the same sides get the same pairs."""
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


@functools.cache
def measure_limit(side):
    """Runs of a side that does the least that any implementation has to."""
    return [side.run() for _ in range(3)]


def median_with_interval(values, resamples=2000):
    """Median and its 95 % interval by bootstrap."""
    generator = random.Random(0)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(resamples))
    return statistics.median(values), medians[int(0.025 * resamples)], medians[int(0.975 * resamples) - 1]
