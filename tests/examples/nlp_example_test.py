"""The tutorial learns, and learns what Python's learns: nlp_example_test.py LAUNCHER PLAIN ACCELERATED.

Run by the Python of the packages to compare with.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import fine_tuning

LINE = re.compile(r"^(?:before|epoch \d+): \{'accuracy': [0-9.]+, 'f1': [0-9.]+\}$", re.MULTILINE)


def lines_of(*command):
    """What the program says about its accuracy."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=240, env=environment)
    if run.returncode != 0:
        sys.exit(f"{command[0]} ended with {run.returncode}\n{run.stdout}\n{run.stderr}")
    return LINE.findall(run.stdout)


def accuracy_of(line):
    return float(re.search("'accuracy': ([0-9.]+)", line)[1])


def main():
    launcher, plain, accelerated = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        script = pathlib.Path(__file__).with_name("fine_tuning.py")
        subprocess.run([sys.executable, script, "make", folder], check=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
        options = fine_tuning.options(folder)
        python = lines_of(sys.executable, script, "train", folder)
        runs = {
            "the accelerated program on one process": lines_of(accelerated, *options),
            "the plain program": lines_of(plain, *options),
            "the accelerated program on two processes":
                lines_of(launcher, "launch", "--num_processes", 2, accelerated, *options),
        }
    print("Python", *python, sep="\n")
    for name, lines in runs.items():
        print(name, *lines, sep="\n")
        if len(lines) != fine_tuning.NUM_EPOCHS + 1:
            sys.exit(f"{name} printed {len(lines)} lines; each should be printed once, by the main process")
        correct = [accuracy_of(line) * fine_tuning.NUM_EVAL_TEXTS for line in lines]
        if any(abs(count - round(count)) > 1e-9 for count in correct):
            sys.exit(f"{name} did not measure on all texts, each counted once")
        if accuracy_of(lines[-1]) < 0.9:
            sys.exit(f"{name} learnt too little")
    if runs["the accelerated program on one process"] != python:
        sys.exit("one process of ours does not learn as Python does")


main()
