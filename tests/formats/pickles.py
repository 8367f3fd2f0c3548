#!/usr/bin/env python3
"""Writes the same objects with Python's pickler, or checks that what C++ wrote reads as these objects.

  pickles.py write DIRECTORY    writes protocol_2.pkl to protocol_5.pkl
  pickles.py check DIRECTORY    reads ours.pkl
"""

import collections
import pathlib
import pickle
import sys

OBJECTS = {
    "none": None,
    "flags": [True, False],
    "integers": [0, 255, 256, 65535, 65536, -1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, -(2**63)],
    "big": [2**63, 2**64 - 1, -(2**63) - 1, 2**100],
    "floats": [0.0, -1.5, 1e300, float("inf")],
    "texts": ["", "abc", "schön", "日本", "x" * 300],
    "bytes": [b"", bytes(range(256))],
    "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
    "set": {7},
    "ordered": collections.OrderedDict([("b", 1), ("a", 2)]),
    "nested": {"list": [[], [[]]], 5: {"six": 6}, (1, "a"): None},
}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    directory = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "write":
        for protocol in range(2, 6):
            (directory / f"protocol_{protocol}.pkl").write_bytes(pickle.dumps(OBJECTS, protocol))
        return
    ours = pickle.loads((directory / "ours.pkl").read_bytes())
    assert ours == OBJECTS, ours
    assert list(ours) == list(OBJECTS) and list(ours["ordered"]) == ["b", "a"]
    assert type(ours["ordered"]) is collections.OrderedDict and type(ours["flags"][0]) is bool


if __name__ == "__main__":
    main()
