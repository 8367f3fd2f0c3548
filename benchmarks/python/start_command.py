"""Starts a command several times and tells what that cost, in the form of a side. Usage:

    start_command.py TIMES COMMAND...

The memory is that of the largest process of the command.
"""

import json
import os
import resource
import subprocess
import sys
import time


def main():
    times, command = int(sys.argv[1]), sys.argv[2:]
    resident = 0
    began = time.monotonic()
    for _ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{command} ended with wait status {status}")
        resident = max(resident, usage.ru_maxrss * 1024)
    wall = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"wall_seconds": wall, "cpu_seconds": used.ru_utime + used.ru_stime}
    print(json.dumps({"work": times, "losses": [], "resident_bytes": resident, "peak_bytes": resident} | cost))


if __name__ == "__main__":
    main()
