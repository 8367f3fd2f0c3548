#!/usr/bin/env python3
"""Writes transformers/tokenizers/text/grapheme_data.inc: how each code point joins its neighbours in a grapheme cluster.

The classes are those of Unicode's annex 29, from the `regex` package, whose Unicode version is the one that the reference
implementation cuts graphemes by. Hangul syllables are left to arithmetic.

  .venv/bin/python tools/make_grapheme_table.py           writes the file
  .venv/bin/python tools/make_grapheme_table.py --check   only compares, and fails when it would differ
"""

import argparse
import itertools
import pathlib
import sys
import textwrap

import regex

OUTPUT = pathlib.Path(__file__).parent.parent / "transformers/tokenizers/text/grapheme_data.inc"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]

# In the order of GraphemeClass in grapheme.cpp. The first pattern that matches counts.
CLASSES = {
    1: r"\p{GCB=CR}",
    2: r"\p{GCB=LF}",
    3: r"\p{GCB=Control}",
    4: r"(?=\p{GCB=Extend})\p{InCB=None}",
    5: r"(?=\p{GCB=Extend})\p{InCB=Extend}",
    6: r"(?=\p{GCB=Extend})\p{InCB=Linker}",
    7: r"\p{GCB=ZWJ}",
    8: r"\p{GCB=Regional_Indicator}",
    9: r"\p{GCB=Prepend}",
    10: r"\p{GCB=SpacingMark}",
    11: r"\p{GCB=L}",
    12: r"\p{GCB=V}",
    13: r"\p{GCB=T}",
    14: r"\p{Extended_Pictographic}",
    15: r"\p{InCB=Consonant}",
}


def class_of_each():
    classes = [0] * 0x110000
    text = "".join(map(chr, CODE_POINTS))
    for number, pattern in reversed(CLASSES.items()):
        for match in regex.finditer(pattern, text):
            classes[ord(match.group())] = number
    return classes


def table():
    runs = [(len(list(group)), number) for number, group in itertools.groupby(class_of_each())]
    lines = textwrap.wrap(" ".join(f"{length},{number}," for length, number in runs), 118)
    return (
        f"// Made by tools/make_grapheme_table.py from regex {regex.__version__}; not for editing.\n\n"
        "// Lengths of runs of code points, each with the class of the run.\n"
        "constexpr uint32_t kGraphemeRuns[] = {\n" + "\n".join(lines) + "\n};\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options = parser.parse_args()
    if not options.check:
        OUTPUT.write_text(table())
    elif OUTPUT.read_text() != table():
        sys.exit(f"{OUTPUT.name} is not what {pathlib.Path(__file__).name} writes; run it and commit the result")


if __name__ == "__main__":
    main()
