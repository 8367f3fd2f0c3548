"""Ends one of two ranks by SIGKILL in the middle of training, again and again, and tells how the other takes it.

    end_a_rank.py TIMES COMMAND...

COMMAND prints `ready` after its first step and `noticed` once it knows that the other rank has ended. Prints one line of
JSON, as a side does: how long noticing took (half of the times, and 99 of 100), how often it took too long or never
happened, how long two new ranks took to the end of their first step, and how many names they left in /dev/shm.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time

from measure import free_port, rank_environment

PATIENCE_SECONDS = 60  # a rank that has not noticed by then hangs


def start_ranks(command):
    port = free_port()
    return [
        subprocess.Popen(
            command,
            env=rank_environment(rank, 2, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for rank in range(2)
    ]


def seconds_until(word, rank, began):
    """When `rank` prints `word`; nothing if it ends without."""
    for line in rank.stdout:
        if line.startswith(word):
            return time.monotonic() - began
    return None


def end_one(command, generator):
    """Seconds to the first step of both, and from the end of one until the other has noticed."""
    began = time.monotonic()
    ranks = start_ranks(command)
    patience = threading.Timer(PATIENCE_SECONDS, lambda: [rank.kill() for rank in ranks])
    patience.start()
    try:
        starts = [seconds_until("ready", rank, began) for rank in ranks]
        if None in starts:
            sys.exit(f"{' '.join(command)} has not come to its first step")
        time.sleep(generator.uniform(0, 0.02))  # somewhere in a step
        victim = generator.randrange(2)
        killed = time.monotonic()
        ranks[victim].kill()
        noticed = seconds_until("noticed", ranks[1 - victim], killed)
    finally:
        patience.cancel()
        for rank in ranks:
            rank.kill()
            rank.wait()
    return max(starts), noticed


def main():
    times, command = int(sys.argv[1]), sys.argv[2:]
    generator = random.Random(0)
    names, began = set(os.listdir("/dev/shm")), time.monotonic()
    starts, notices = zip(*(end_one(command, generator) for _ in range(times)))
    waits = sorted(PATIENCE_SECONDS if seconds is None else seconds for seconds in notices)
    result = {
        "work": times,
        "wall_seconds": time.monotonic() - began,
        "cpu_seconds": None,
        "losses": [],
        "resident_bytes": 0,
        "peak_bytes": 0,
        "notice_p50_seconds": statistics.median(waits),
        "notice_p99_seconds": waits[len(waits) * 99 // 100],
        "never_noticed": notices.count(None),
        "start_seconds": statistics.median(starts),
        "names_left": len(set(os.listdir("/dev/shm")) - names),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
