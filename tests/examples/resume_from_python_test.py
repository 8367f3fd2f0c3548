"""Trains in Python and goes on in C++: resume_from_python_test.py LAUNCHER PYTHON SCRIPT PROGRAM."""

import os
import re
import subprocess
import sys
import tempfile

launcher, python, script, program = sys.argv[1:]
environment = {**os.environ, "PATH": os.path.dirname(python) + ":" + os.environ["PATH"], "ACCELERATE_USE_CPU": "1"}


def accuracy(*command):
    """What a program prints, on two processes."""
    run = subprocess.run(
        [launcher, "launch", "--num_processes", "2", *command], capture_output=True, text=True, timeout=280, env=environment
    )
    print(run.stdout, run.stderr, sep="\n")
    if run.returncode != 0:
        sys.exit(f"{command[0]} ended with {run.returncode}")
    return float(re.search(r"^epoch 0 accuracy ([0-9.]+) on 10000 pictures$", run.stdout, re.MULTILINE)[1])


with tempfile.TemporaryDirectory() as directory:
    saved = os.path.join(directory, "python_run")
    before = accuracy(script, "--output_dir", saved, "--num_samples", "6000")
    after = accuracy(program, "--num_samples", "6000", "--num_epochs", "1", "--resume_from_checkpoint", saved)
    if not after > before + 0.01:
        sys.exit(f"the accuracy went from {before} to {after}; another epoch should make it higher")
