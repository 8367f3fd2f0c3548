#!/usr/bin/env python3
"""Counts how much a reader has to open: the size of files, headers with one user, public headers, and the way of a step.

A header has one user if exactly one other file of the product includes it; the source of the same name does not count.
The way of a training step is read from tools/training_step.txt, which names a function in each line in the order of the
calls. A function that its file no longer has is an error, so that the count cannot outlive the code.

  python3 tools/count_structure.py           # the table of ARCHITECTURE.md
  python3 tools/count_structure.py --check   # also fails if a count exceeds its limit
"""

import argparse
import collections
import pathlib
import re
import statistics
import sys

PRODUCT = ("accelerate", "transformers", "cli", "notebook")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
HOT_LOOP = ("batch", "model call", "backward", "optimizer step")

LIMITS = {
    "hops of a training step": (0, 150),
    "files of a training step": (0, 85),
    "hops of the hot loop": (0, 60),
    "files of the hot loop": (0, 35),
    "headers with one user": (0, 69),
    "public headers": (0, 80),
    "median lines of a file": (70, 130),
}


def product_files(root):
    files = {}
    for folder in PRODUCT:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files[path.relative_to(root).as_posix()] = path.read_text()
    return files


def headers_with_one_user(files):
    users = collections.defaultdict(set)
    for name, text in files.items():
        for included in INCLUDE.findall(text):
            if included in files and included.removesuffix(".h") != name.removesuffix(".cpp"):
                users[included].add(name)
    return sorted(name for name in files if name.endswith(".h") and len(users[name]) == 1)


def read_step(root, files):
    """The legs of tools/training_step.txt: {leg: [(file, function)]}."""
    legs, leg = {}, None
    source = root / "tools/training_step.txt"
    for number, line in enumerate(source.read_text().splitlines(), start=1):
        line = line.split("#")[0].strip()
        if line.endswith(":"):
            leg = legs.setdefault(line[:-1], [])
        elif line:
            name, function = line.split()
            if not re.search(rf"\b{re.escape(function)}\b", files.get(name, "")):
                sys.exit(f"{source}:{number}: {name} has no {function}; follow the call and correct the line")
            leg.append((name, function))
    return legs


def counts(root):
    files = product_files(root)
    legs = read_step(root, files)
    step = [hop for leg in legs.values() for hop in leg]
    hot_loop = [hop for leg in HOT_LOOP for hop in legs[leg]]
    return {
        "hops of a training step": len(step),
        "files of a training step": len({name for name, _ in step}),
        "hops of the hot loop": len(hot_loop),
        "files of the hot loop": len({name for name, _ in hot_loop}),
        "headers with one user": len(headers_with_one_user(files)),
        "public headers": len((root / "cmake/public_headers.txt").read_text().split()),
        "median lines of a file": int(statistics.median(len(text.splitlines()) for text in files.values())),
    }, legs, files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--check", action="store_true", help="fail if a count exceeds its limit")
    parser.add_argument("--list", action="store_true", help="list the headers with one user")
    arguments = parser.parse_args()
    result, legs, files = counts(arguments.root)
    if arguments.list:
        print("\n".join(headers_with_one_user(files)))
        return
    failed = False
    print(f"| {len(files)} files | count | limit |\n|---|---|---|")
    for name, count in result.items():
        low, high = LIMITS[name]
        failed |= not low <= count <= high
        print(f"| {name} | {count} | {f'{low} to {high}' if low else f'at most {high}'} |")
    print("\n| leg of the step | hops | files |\n|---|---|---|")
    for leg, hops in legs.items():
        print(f"| {leg} | {len(hops)} | {len({name for name, _ in hops})} |")
    sys.exit(1 if arguments.check and failed else 0)


if __name__ == "__main__":
    main()
