#!/usr/bin/env python3
"""Prints the sources of this repository that a compile_commands.json names, a line each.

    tools/list_sources.py FILE                all of them
    tools/list_sources.py FILE --torch-free   those compiled without libtorch
"""

import argparse
import json
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file", type=Path)
parser.add_argument("--torch-free", action="store_true")
arguments = parser.parse_args()

root = Path.cwd()
build = arguments.file.resolve().parent
sources = set()
for entry in json.loads(arguments.file.read_text()):
    source = Path(entry["file"])
    if not source.is_relative_to(root) or source.is_relative_to(build):
        continue
    if arguments.torch_free and "torch/include" in entry["command"]:
        continue
    sources.add(str(source.relative_to(root)))
print("\n".join(sorted(sources)))
