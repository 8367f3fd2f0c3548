#!/usr/bin/env python3
"""Checks that no file of the repository mentions a place on the machine it was written on: the clone, what
lies beside it, or a home directory."""

import argparse
import pathlib
import re
import subprocess
import sys


def places(root):
    """The paths to look for, as one pattern. Very short ones, such as a home of `/`, would match everything."""
    names = {*map(str, root.parent.iterdir()), str(pathlib.Path.home()), "/root"}
    names = [re.escape(name) for name in sorted(names) if len(name) > 4] + ["/home/[a-z]+"]
    return re.compile(r"(?<![\w.}/$-])(" + "|".join(names) + r")(?![\w.-])")


def tracked_files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True)
    return [root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).parent.parent)
    root = parser.parse_args().root.resolve()
    pattern = places(root)
    files = tracked_files(root)
    mentions = []
    for path in files:
        if path.name == pathlib.Path(__file__).name:
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            if match := pattern.search(line):
                mentions.append(f"{path.relative_to(root)}:{number}: mentions {match[0]}")
    print("\n".join(mentions + [f"{len(files)} files, {len(mentions)} mentions"]))
    sys.exit(1 if mentions or not files else 0)


if __name__ == "__main__":
    main()
