"""Writes a topic's reference again from the real packages and compares it with the committed one: exactly, or, where an
object says "tolerance", with all floats inside of it as close as that.

Usage: check_reference.py TOPIC_FOLDER OUTPUT.json
"""

import json
import math
import os
import subprocess
import sys


def first_difference(old, new, tolerance=0, path="reference"):
    """Says where two values differ first, or nothing if they are equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        tolerance = old.get("tolerance", tolerance)
        if old.keys() != new.keys():
            return f"{path}: the keys {sorted(old.keys() ^ new.keys())} are on one side only"
        pairs = [(f"{path}[{key!r}]", old[key], new[key]) for key in old]
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"{path}: {len(old)} elements are committed, {len(new)} were written now"
        pairs = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(old, new))]
    else:
        same = type(old) is type(new) and (old == new or (old != old and new != new))
        if type(old) is type(new) is float:
            same = same or math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance)
        return None if same else f"{path}: {old!r} is committed, {new!r} was written now"
    return next(filter(None, (first_difference(a, b, tolerance, place) for place, a, b in pairs)), None)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    topic, output = sys.argv[1:]
    os.makedirs(os.path.dirname(output), exist_ok=True)
    subprocess.run([sys.executable, os.path.join(topic, "make_reference.py"), output], check=True)
    with open(os.path.join(topic, "reference.json")) as committed, open(output) as written:
        difference = first_difference(json.load(committed), json.load(written))
    if difference:
        sys.exit(f"{topic}: upstream no longer gives the committed reference\n{difference}")


if __name__ == "__main__":
    main()
