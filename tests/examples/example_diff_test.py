"""The tutorial's promise, counted: example_diff_test.py PLAIN ACCELERATED.

From the plain program to the one on many processes at most eight lines are added, one of them in the body of the training
loop, and every line about devices goes away.
"""

import difflib
import pathlib
import re
import sys


def program(path):
    """The lines of a program after the comment at its top."""
    lines = pathlib.Path(path).read_text().splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith("#include")):]


def loop_body(lines):
    """The lines inside `for (auto& batch : train)`."""
    start = next(i for i, line in enumerate(lines) if "for (auto& batch : train)" in line)
    indent = re.match(" *", lines[start])[0]
    return set(lines[start + 1:lines.index(f"{indent}}}", start)])


plain, accelerated = program(sys.argv[1]), program(sys.argv[2])
changes = [line for line in difflib.ndiff(plain, accelerated) if line[:2] in ("+ ", "- ")]
added = [line[2:] for line in changes if line[0] == "+"]
added_in_loop = [line for line in added if line in loop_body(accelerated)]
print("\n".join(changes))
if len(added) > 8:
    sys.exit(f"{len(added)} lines are added; at most 8 were promised")
if len(added_in_loop) != 1:
    sys.exit(f"{len(added_in_loop)} lines are added to the body of the training loop; 1 was promised")
for change in ("#include <accelerate/accelerate.h>", "accelerate::Accelerator accelerator", "accelerator.prepare(",
               "accelerator.backward("):
    if not any(change in line for line in added):
        sys.exit(f"'{change}' is not among the added lines")
if not any("device" in line for line in plain) or any("device" in line for line in accelerated):
    sys.exit("device placement should be in the plain program and not in the accelerated one")
