"""Inference gives the same answer on any number of processes: distributed_inference_test.py LAUNCHER PROGRAM."""

import re
import subprocess
import sys

launcher, program = sys.argv[1:]


def answer(num_processes):
    """The texts found, in their order. 101 texts do not divide evenly."""
    command = [launcher, "launch", "--num_processes", str(num_processes), program, "--num_eval_rows", "101"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    print(run.stdout, run.stderr, sep="\n")
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}")
    return re.findall(r"^0\.\d+ (.*)$", run.stdout, re.MULTILINE)


alone = answer(1)
if len(alone) != 3:
    sys.exit(f"three texts were expected, each once: {alone}")
for num_processes in (2, 4):
    if answer(num_processes) != alone:
        sys.exit(f"{num_processes} processes found other texts than one")
