"""What every Python side of a benchmark shares: clocks, resident memory, and one line of JSON as the result."""

import json
import os
import resource
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


def process_age():
    """Seconds since the kernel started this process."""
    with open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def peak_bytes():
    """The most that was ever resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def report(**result):
    """Ends a side: the driver reads this line."""
    print(json.dumps(result | {"resident_bytes": resident_bytes(), "peak_bytes": peak_bytes()}), flush=True)
