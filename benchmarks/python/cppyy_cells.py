"""Runs cells of C++ in cppyy, with libtorch loaded.

    cppyy_cells.py TORCH INCLUDE...    the directory of torch and those of headers

Reads cells from the standard input, each a line of JSON, and prints a line when one has run.
"""

import json
import pathlib
import sys

import cppyy


def main():
    torch, *includes = sys.argv[1:]
    for directory in includes:
        cppyy.add_include_path(directory)
    for name in ("libc10.so", "libtorch_cpu.so", "libtorch.so"):
        cppyy.load_library(str(pathlib.Path(torch, "lib", name)))
    for line in sys.stdin:
        cell = json.loads(line)
        run = cppyy.cppdef if cell.startswith("#") else cppyy.cppexec
        run(cell)
        print("done", flush=True)


if __name__ == "__main__":
    main()
