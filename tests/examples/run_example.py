"""Runs an example on some processes and checks what it says and leaves behind, each file once.

    run_example.py LAUNCHER PROGRAM NUM_PROCESSES MIN_ACCURACY [FILES...]
"""

import pathlib
import re
import subprocess
import sys
import tempfile

launcher, program, num_processes, min_accuracy, *files = sys.argv[1:]
directory = tempfile.TemporaryDirectory()
command = [launcher, "launch", "--num_processes", num_processes, program, "--quick"]
run = subprocess.run(command, cwd=directory.name, capture_output=True, text=True, timeout=240)
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
for pattern in files:
    found = list(pathlib.Path(directory.name).glob(pattern))
    if len(found) != 1 or found[0].stat().st_size == 0:
        sys.exit(f"expected one file {pattern} with something in it, got {found}")
