"""Runs a side of a benchmark on two machines with two ranks each, which are network namespaces with limited links.

    across_machines.py RATE COMMAND...

Prints the line of JSON of the slowest rank, as one side.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import network_machines  # noqa: E402

NUM_MACHINES = 2
RANKS_OF_EACH = 2
PORT = 29500  # nobody else is in these namespaces
TIMEOUT_SECONDS = 280


def environment(machine, number):
    return os.environ | {
        "ACCELERATE_USE_CPU": "1",
        "OMP_NUM_THREADS": "1",
        "RANK": str(machine * RANKS_OF_EACH + number),
        "LOCAL_RANK": str(number),
        "WORLD_SIZE": str(NUM_MACHINES * RANKS_OF_EACH),
        "LOCAL_WORLD_SIZE": str(RANKS_OF_EACH),
        "MASTER_ADDR": network_machines.address(0),
        "MASTER_PORT": str(PORT),
        "GLOO_SOCKET_IFNAME": "eth0",
    }


def main():
    rate, *command = sys.argv[1:]
    with network_machines.machines(NUM_MACHINES, rate) as names:
        ranks = [
            subprocess.Popen(
                network_machines.inside(name, *command), env=environment(machine, number), stdout=subprocess.PIPE, text=True
            )
            for machine, name in enumerate(names)
            for number in range(RANKS_OF_EACH)
        ]
        outputs = [rank.communicate(timeout=TIMEOUT_SECONDS)[0] for rank in ranks]
    if any(rank.returncode != 0 for rank in ranks):
        sys.exit(f"the ranks ended with {[rank.returncode for rank in ranks]}")
    results = [json.loads(output.strip().splitlines()[-1]) for output in outputs]
    print(json.dumps(max(results, key=lambda result: result["wall_seconds"])), flush=True)


main()
