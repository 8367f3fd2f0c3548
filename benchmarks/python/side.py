"""What every Python side of a benchmark shares: clocks, resident memory, and one line of JSON as the result."""

import json
import os
import resource
import sys
import time


def _children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return file.read().split()


def _cpu_seconds_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_seconds():
    """CPU time of this process and of its living children, which a data loader's workers are."""
    return time.process_time() + sum(_cpu_seconds_of(pid) for pid in _children())


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Stopwatch:
    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), cpu_seconds()

    def seconds(self):
        return {"wall_seconds": time.perf_counter() - self.wall, "cpu_seconds": cpu_seconds() - self.cpu}


class Laps:
    """Adds up how long each part of a step takes."""

    def __init__(self):
        self.totals = {}
        self.begin()

    def begin(self):
        self.last = time.perf_counter()

    def lap(self, name):
        """What was done since begin() or the last lap."""
        now = time.perf_counter()
        self.totals[name] = self.totals.get(name, 0.0) + now - self.last
        self.last = now

    def per_step(self, steps):
        """Seconds of each lap in a step, as figures of a side."""
        return {f"{name}_seconds": seconds / steps for name, seconds in self.totals.items()}


def seconds_since_start():
    """Seconds since the kernel started this process, or since measure.py started whoever has launched it."""
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    if "BENCH_STARTED" in os.environ:
        return now - float(os.environ["BENCH_STARTED"])
    with open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    return now - ticks / os.sysconf("SC_CLK_TCK")


def since_start():
    """The figures of a side that is measured from its start, in place of those of its stopwatch."""
    return {"wall_seconds": seconds_since_start(), "cpu_seconds": None}


def proportional_bytes():
    """Resident memory in which a page that several processes share counts in parts."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))


def report(**result):
    """Ends a side: the driver reads this line."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    common = {
        "rank": int(os.environ.get("RANK", "0")),
        "resident_bytes": resident_bytes(),
        "proportional_bytes": proportional_bytes(),
        "peak_bytes": used.ru_maxrss * 1024,  # the most that was ever resident
        "page_faults": used.ru_minflt,
    }
    sys.stdout.write(json.dumps(common | result) + "\n")  # at once, for ranks of a launcher have one output
    sys.stdout.flush()
