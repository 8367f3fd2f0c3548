"""Runs the example of checkpoints, and once more from the middle: checkpointing_test.py LAUNCHER PROGRAM."""

import os
import re
import subprocess
import sys
import tempfile

launcher, program = sys.argv[1:]


def accuracy(directory, *flags):
    """What the example prints, on two processes."""
    command = [launcher, "launch", "--num_processes", "2", program, "--num_samples", "3000", "--num_epochs", "2", "--output_dir"]
    run = subprocess.run([*command, directory, *flags], capture_output=True, text=True, timeout=240)
    print(run.stdout, run.stderr, sep="\n")
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}")
    return re.findall(r"^epoch (\d+) accuracy ([0-9.]+)", run.stdout, re.MULTILINE)


with tempfile.TemporaryDirectory() as directory:
    whole = accuracy(directory, "--checkpointing_steps", "15")
    if sorted(os.listdir(directory)) != ["step_15", "step_30", "step_45"]:
        sys.exit(f"there should be checkpoints of 15, 30 and 45 steps, and there are {os.listdir(directory)}")
    resumed = accuracy(directory, "--resume_from_checkpoint", os.path.join(directory, "step_30"), "--checkpointing_steps", "epoch")
    if resumed != whole[1:]:
        sys.exit(f"gone on from the second epoch it printed {resumed} instead of {whole[1:]}")
    if not os.path.isdir(os.path.join(directory, "epoch_1")):
        sys.exit("the checkpoint of the last epoch is missing")
