#!/usr/bin/env python3
"""Writes transformers/tokenizers/text/unicode_data.inc: what the `tokenizers` package knows of Unicode.

Its parts stand on different versions of Unicode, so that no library has the same answers. Here the package itself is
asked about each code point, and the answers are written as runs.

  .venv/bin/python tools/make_unicode_tables.py           writes the file (half a minute)
  .venv/bin/python tools/make_unicode_tables.py --check   only compares, and fails when it would differ
"""

import argparse
import pathlib
import sys
import textwrap
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

OUTPUT = pathlib.Path(__file__).parent.parent / "transformers/tokenizers/text/unicode_data.inc"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
# In the order of kCategoryNames in unicode.cpp.
CATEGORIES = "Cn Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs".split()
HANGUL = range(0xAC00, 0xD7A4)  # composed by arithmetic, not by table


def matching(pattern):
    """The code points that a regular expression for one character matches."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    found = set()
    for begin in range(0, len(CODE_POINTS), 20000):
        text = "".join(map(chr, CODE_POINTS[begin:begin + 20000]))
        for piece, _ in split.pre_tokenize_str(text):
            found.update(map(ord, piece))
    return found


def categories():
    category = [0] * 0x110000
    for number, name in enumerate(CATEGORIES):
        if name not in ("Cn", "Cs"):
            for code_point in matching(rf"\p{{{name}}}"):
                category[code_point] = number
    return category


def removed_by(normalizer):
    return {c for c in CODE_POINTS if not normalizer.normalize_str(chr(c))}


def mapped_by(normalizer):
    """Code points that change, with what they become."""
    pairs = ((c, normalizer.normalize_str(chr(c))) for c in CODE_POINTS)
    return {c: [ord(x) for x in text] for c, text in pairs if text != chr(c)}


def punctuation():
    isolated = pre_tokenizers.Punctuation("isolated")
    return {c for c in CODE_POINTS if len(isolated.pre_tokenize_str("a" + chr(c))) == 2}


def numeric():
    digits = pre_tokenizers.Digits(individual_digits=False)
    return {c for c in CODE_POINTS if len(digits.pre_tokenize_str("a" + chr(c))) == 2}


def word_characters():
    words = pre_tokenizers.Whitespace()
    return {c for c in CODE_POINTS if words.pre_tokenize_str("a" + chr(c))[0][0] == "a" + chr(c)}


def combining_classes():
    """Class of each code point that normalization reorders; the numbers never change between versions of Unicode."""
    nfd = normalizers.NFD()
    overlay, below = chr(0x0334), chr(0x0331)  # of class 1 and 220
    moves = lambda c: (nfd.normalize_str(c + overlay) == overlay + c or nfd.normalize_str(below + c) == c + below)
    return {c: unicodedata.combining(chr(c)) for c in CODE_POINTS
            if unicodedata.combining(chr(c)) and nfd.normalize_str(chr(c)) == chr(c) and moves(chr(c))}


def compositions():
    """Pairs of code points with what they become together."""
    nfc = normalizers.NFC()
    pairs = {}
    for c in CODE_POINTS:
        parts = unicodedata.decomposition(chr(c)).split()
        if len(parts) == 2 and not parts[0].startswith("<") and c not in HANGUL:
            first, second = (int(part, 16) for part in parts)
            if nfc.normalize_str(chr(first) + chr(second)) == chr(c):
                pairs[first, second] = c
    return pairs


def scripts():
    """A number for the script of each code point; 0 for those that go with any."""
    cut = pre_tokenizers.UnicodeScripts()
    together = lambda *texts: len(cut.pre_tokenize_str("".join(texts))) == 1
    latin, cyrillic = "a", "\u0430"
    examples = [latin]
    script = [0] * 0x110000
    last = None
    for c in CODE_POINTS:
        text = chr(c)
        if together(latin, text) and together(cyrillic, text):
            continue
        if last is None or not together(examples[last - 1], text):
            found = [number for number, example in enumerate(examples, start=1) if together(example, text)]
            last = found[0] if found else len(examples) + 1
            if not found:
                examples.append(text)
        script[c] = last
    return script


def runs(values):
    """Values of all code points as pairs: how many, of which value."""
    result = []
    for value in values:
        if result and result[-1][1] == value:
            result[-1][0] += 1
        else:
            result.append([1, value])
    return [number for run in result for number in run]


def boundaries(members):
    """A set as lengths: of what is outside (which may be 0), inside, outside, ..."""
    lengths = runs(int(c in members) for c in range(0x110000))[::2]
    return [0] * (0 in members) + lengths


def lower_case(mapping):
    """Runs of single characters with one distance: distance to the run before, length, step, distance to lower case."""
    rows = []
    for c, (lower,) in sorted((c, lower) for c, lower in mapping.items() if len(lower) == 1):
        if rows and rows[-1][3] == lower - c and c - rows[-1][1] in (1, 2) and rows[-1][2] in (0, c - rows[-1][1]):
            rows[-1][1], rows[-1][2] = c, c - rows[-1][1]
        else:
            rows.append([c, c, 0, lower - c])
    result, previous = [], 0
    for begin, last, step, distance in rows:
        result += [begin - previous, (last - begin) // (step or 1) + 1, step or 1, distance]
        previous = begin
    return result


def mappings(mapping):
    """For each entry: distance to the one before, number of code points, the code points."""
    result, previous = [], 0
    for c, becomes in sorted(mapping.items()):
        result += [c - previous, len(becomes), *becomes]
        previous = c
    return result


def tables():
    nfd, nfkd = mapped_by(normalizers.NFD()), mapped_by(normalizers.NFKD())
    bert = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    lower = mapped_by(normalizers.Lowercase())
    classes = combining_classes()
    yield "kCategoryRuns", runs(categories())
    yield "kHanRuns", boundaries(matching(r"\p{Han}"))
    yield "kWordRuns", boundaries(matching(r"\w"))
    yield "kBracketedWordRuns", boundaries(matching(r"[\w]"))
    yield "kRemovedByCleanRuns", boundaries(removed_by(normalizers.BertNormalizer(**bert | {"clean_text": True})))
    accents = removed_by(normalizers.BertNormalizer(**bert | {"strip_accents": True}))
    yield "kNonspacingMarkRuns", boundaries(accents - set(nfd))
    yield "kCombiningMarkRuns", boundaries(removed_by(normalizers.StripAccents()))
    yield "kPunctuationRuns", boundaries(punctuation())
    yield "kNumericRuns", boundaries(numeric())
    yield "kWordCharacterRuns", boundaries(word_characters())
    yield "kScriptRuns", runs(scripts())
    yield "kLowerCaseRuns", lower_case(lower)
    yield "kLowerCaseTexts", mappings({c: text for c, text in lower.items() if len(text) > 1})
    yield "kCanonicalTexts", mappings({c: text for c, text in nfd.items() if c not in HANGUL})
    yield "kCompatibleTexts", mappings({c: text for c, text in nfkd.items() if text != nfd.get(c)})
    yield "kCombiningClassRuns", runs(classes.get(c, 0) for c in range(0x110000))
    yield "kCompositions", [number for pair, c in sorted(compositions().items()) for number in (*pair, c)]


def generated():
    parts = [f"// Made by tools/make_unicode_tables.py from tokenizers {tokenizers.__version__}; not for editing.\n"]
    for name, numbers in tables():
        kind = "int32_t" if min(numbers) < 0 else "uint32_t"
        lines = "\n".join(textwrap.wrap(", ".join(map(str, numbers)), 150)).replace(", ", ",")
        parts.append(f"constexpr {kind} {name}[] = {{\n{lines}}};\n")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare with the file")
    arguments = parser.parse_args()
    text = generated()
    if not arguments.check:
        OUTPUT.write_text(text)
    elif OUTPUT.read_text() != text:
        sys.exit(f"{OUTPUT} is not what {sys.argv[0]} writes with tokenizers {tokenizers.__version__}")


if __name__ == "__main__":
    main()
