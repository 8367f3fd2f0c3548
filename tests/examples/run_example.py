"""Runs an example on some processes and checks what it says: run_example.py LAUNCHER PROGRAM NUM_PROCESSES MIN_ACCURACY."""

import re
import subprocess
import sys

launcher, program, num_processes, min_accuracy = sys.argv[1:]
run = subprocess.run(
    [launcher, "launch", "--num_processes", num_processes, program, "--quick"], capture_output=True, text=True, timeout=240
)
print(run.stdout, run.stderr, sep="\n")
if run.returncode != 0:
    sys.exit(f"{program} ended with {run.returncode}")
lines = re.findall(r"^epoch \d+ accuracy ([0-9.]+) on (\d+) pictures$", run.stdout, re.MULTILINE)
if len(lines) != 1:
    sys.exit(f"expected one line with the accuracy, got {len(lines)}: is it printed by the main process alone?")
accuracy, pictures = lines[0]
if pictures != "10000":
    sys.exit(f"the accuracy is over {pictures} pictures; there are 10000")
if float(accuracy) < float(min_accuracy):
    sys.exit(f"the accuracy is {accuracy}; at least {min_accuracy} was expected")
