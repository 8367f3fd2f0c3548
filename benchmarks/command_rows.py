"""The benchmarks of the command: how long it takes to start, and how much memory, against Python's commands."""

import pathlib
import sys

from rows import COMMAND, Row, mebibytes, script

PYTHON_COMMANDS = pathlib.Path(sys.executable).parent


def milliseconds_per_start(run):
    return run.wall / run.work * 1e3


def starts(*command):
    return script("start_command", 1, *command)


def row(name, peer_name, ours, peer, memory=False):
    return Row(
        name=name + (", memory" if memory else ""),
        peer_name=peer_name,
        unit="MiB" if memory else "ms",
        ours=lambda quick: starts(COMMAND, *ours),
        peer=lambda quick: starts(str(PYTHON_COMMANDS / peer[0]), *peer[1:]),
        value=mebibytes if memory else milliseconds_per_start,
        target=10 if memory else 30,
    )


def launch_row(processes, peer, memory=False):
    """A program that does nothing: all that is measured is the launcher."""
    ours = ("launch", "--cpu", "--num_processes", processes, "true")
    if peer == "torchrun":
        theirs = ("torchrun", "--standalone", "--nproc-per-node", processes, "--no-python", "true")
    else:
        several = ("--multi_gpu", "--main_process_port", "0") if processes > 1 else ("--cpu",)
        theirs = ("accelerate", "launch", *several, "--num_processes", processes, "--no_python", "true")
    return row(f"launch of {processes}", peer, ours, theirs, memory)


# A line for every fifth of a millisecond of work, each written at once.
LOGGING = """
BEGIN {
  for (i = 0; i < 4000; i++) {
    for (j = 0; j < 5000; j++) s += j
    print "step", i, "loss", s
    fflush()
  }
}"""


def log_row():
    """What it costs that the lines of two ranks go through the launcher to files and the console."""
    into_pipes = 'awk "$0" | cat > /dev/null & awk "$0" | cat > /dev/null; wait'
    return Row(
        name="lines of two ranks to logs and console, CPU time",
        peer_name="the same into pipes",
        unit="ms",
        ours=lambda quick: starts(COMMAND, "launch", "--cpu", "--num_processes", 2, "--tee", 3, "awk", LOGGING),
        peer=lambda quick: starts("sh", "-c", into_pipes, LOGGING),
        value=lambda run: run.cpu / run.work * 1e3,
        target=0.95,
    )


COMMAND_ROWS = [
    row("accelerate --help", "accelerate (Python)", ("--help",), ("accelerate", "--help")),
    row("accelerate --help", "accelerate (Python)", ("--help",), ("accelerate", "--help"), memory=True),
    row("accelerate env", "accelerate (Python)", ("env",), ("accelerate", "env")),
    row("accelerate env", "accelerate (Python)", ("env",), ("accelerate", "env"), memory=True),
    *(launch_row(processes, "accelerate (Python)") for processes in (1, 2, 8)),
    launch_row(2, "accelerate (Python)", memory=True),
    *(launch_row(processes, "torchrun") for processes in (1, 2, 8)),
    log_row(),
]
