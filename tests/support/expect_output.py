"""Runs a command that has to end well and to say something, once.

    expect_output.py PATTERN COMMAND...

The pattern is a regular expression of Python's; a dot in it matches an end of line too.
"""

import re
import subprocess
import sys

pattern, *command = sys.argv[1:]
run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
print(run.stdout)
if run.returncode != 0:
    sys.exit(f"{command[0]} ended with {run.returncode}")
found = len(re.findall(pattern, run.stdout, re.DOTALL))
if found != 1:
    sys.exit(f"expected once what matches {pattern!r}, found it {found} times")
