"""What a benchmark is: what runs on each side, what is read from it, and what we want to reach.

The benchmarks themselves are in the files *_rows.py, one for each subject.
"""

import dataclasses
import pathlib
import sys
from collections.abc import Callable

SOURCE = pathlib.Path(__file__).resolve().parent
BUILD = SOURCE.parent / "build"
COMMAND = str(BUILD / "bin" / "accelerate")

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
    of_limit: float | None = None  # the share of the limit that ours has to reach
    num_processes: int = 1
    peer_processes: int | None = None  # if not as many
    most_pairs: int | None = None  # where a pair takes minutes
    rehearsed: bool = False  # where new memory is most of the work, and costs what the program before has left of it
    same_work: bool = True  # on both sides, so that their losses must be equal
    higher_is_better: bool = False

    def better(self, ours, peer):
        return ours / peer if self.higher_is_better else peer / ours

    def has_aim(self):
        return any(aim is not None for aim in (self.target, self.goal, self.of_limit))


def rows_of_both(name, target, tuned_target, ours, peer, limit=None, of_limit=None, **more):
    """A row against Accelerate as it comes, which has the limit, and one against Accelerate as an expert sets it up."""
    expert = "Accelerate, tuned"
    return [
        Row(name, "Accelerate", ours=ours, peer=peer, target=target, limit=limit, of_limit=of_limit, **more),
        Row(f"{name}, tuned", expert, ours=ours, peer=lambda quick: tuned(peer(quick)), target=tuned_target, **more),
    ]


def processes(count):
    return f"{count} process" if count == 1 else f"{count} processes"


def figure(name, scale=1.0):
    """The value of a row that is one of the side's own figures."""
    return lambda run: run.figures[name] * scale


def microseconds_per_step(run):
    return run.wall / run.work * 1e6


def samples_per_second(run):
    return run.work / run.wall


def samples_per_cpu_second(run):
    return run.work / run.cpu


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
