"""Writes to standard output what the `tokenizers` package makes of texts with each normalizer and pre-tokenizer alone,
and with added tokens of each kind, for components_test.cpp to compare with.

    components.py NUM_TEXTS [every]

With `every`, the texts hold every code point. For each case: its name, a tokenizer.json, the number of texts; then each text with its encoding, as parity/oracle.py
writes them. The vocabulary has every piece that the texts are cut into, so that an id says what the piece was.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "parity"))

from oracle import Stream, write_encoding
from texts import FRAGMENTS, adversarial_texts
from tokenizers import AddedToken, Regex, Tokenizer, models
from tokenizers import normalizers as n
from tokenizers import pre_tokenizers as p

BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORDS_AND_MORE = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

NORMALIZERS = {
    "NFC": n.NFC(),
    "NFD": n.NFD(),
    "NFKC": n.NFKC(),
    "NFKD": n.NFKD(),
    "Lowercase": n.Lowercase(),
    "StripAccents": n.StripAccents(),
    "Nmt": n.Nmt(),
    "Strip": n.Strip(),
    "Strip left": n.Strip(left=True, right=False),
    "Strip right": n.Strip(left=False, right=True),
    "Replace text": n.Replace(" ", "\u2581"),
    "Replace regex": n.Replace(Regex(r"\s{2,}|a+"), "<>"),
    "Replace by nothing": n.Replace(Regex(r"[0-9]|\w\b"), ""),
    "Prepend": n.Prepend("\u2581x"),
    "ByteLevel normalizer": n.ByteLevel(),
    "BertNormalizer": n.BertNormalizer(),
    "BertNormalizer cased": n.BertNormalizer(lowercase=False),
    "BertNormalizer with accents": n.BertNormalizer(lowercase=True, strip_accents=False),
    "BertNormalizer accents only": n.BertNormalizer(False, False, True, False),
    "normalizers": n.Sequence([n.NFD(), n.StripAccents(), n.Lowercase(), n.Replace("s", "SS"), n.Prepend("_"), n.NFKC()]),
}
PRE_TOKENIZERS = {
    "BertPreTokenizer": p.BertPreTokenizer(),
    "ByteLevel": p.ByteLevel(add_prefix_space=False),
    "ByteLevel with a space": p.ByteLevel(add_prefix_space=True),
    "ByteLevel without regex": p.ByteLevel(add_prefix_space=True, use_regex=False),
    "CharDelimiterSplit": p.CharDelimiterSplit("e"),
    "Digits": p.Digits(individual_digits=False),
    "Digits one by one": p.Digits(individual_digits=True),
    "FixedLength": p.FixedLength(3),
    "Metaspace always": p.Metaspace(prepend_scheme="always"),
    "Metaspace first": p.Metaspace(prepend_scheme="first"),
    "Metaspace never": p.Metaspace(prepend_scheme="never"),
    "Metaspace unsplit": p.Metaspace(prepend_scheme="always", split=False),
    **{f"Punctuation {b}": p.Punctuation(b) for b in BEHAVIORS},
    **{f"Split {b}": p.Split(Regex(r"\s+|\p{L}"), b) for b in BEHAVIORS},
    "Split inverted": p.Split(Regex(r"\w+|[^\w\s]+"), "removed", invert=True),
    "Split with empty matches": p.Split(Regex("a*"), "isolated"),
    "Split at a text": p.Split(" ", "merged_with_next"),
    "Split at classes": p.Split(Regex(r"\d{1,2}|\p{Han}|\p{M}"), "isolated"),
    "Split as GPT-2": p.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"), "isolated"),
    "Split as Llama 3": p.Split(Regex(WORDS_AND_MORE % r"\p{N}{1,3}"), "isolated"),
    "Split as Qwen": p.Split(Regex(WORDS_AND_MORE % r"\p{N}"), "isolated"),
    "Split by case": p.Split(Regex(rf"{UPPER}*{LOWER}+{CONTRACTIONS}?|{UPPER}+{LOWER}*|\p{{N}}{{1,3}}|\s+"), "isolated"),
    "UnicodeScripts": p.UnicodeScripts(),
    "Whitespace": p.Whitespace(),
    "WhitespaceSplit": p.WhitespaceSplit(),
    "pre-tokenizers": p.Sequence([p.Digits(True), p.Punctuation("contiguous"), p.ByteLevel(add_prefix_space=True)]),
    "pre-tokenizers with a prefix": p.Sequence([p.WhitespaceSplit(), p.Metaspace(prepend_scheme="first")]),
}
ADDED = [
    AddedToken("don", single_word=True),
    AddedToken("[MASK]", lstrip=True, normalized=False, special=True),
    AddedToken("</s>", rstrip=True, normalized=False, special=True),
    AddedToken("MaSk", normalized=True),
    AddedToken("12", lstrip=True, rstrip=True),
]
WITH_ADDED = ["don't don 12 mask MASK [MASK] x</s>  y", "  [MASK][MASK]\n </s></s>", "1212 12 xdon don\u0301 \u00e9don", "don"]


def cases():
    for name, normalizer in NORMALIZERS.items():
        yield name, normalizer, p.FixedLength(1), []
    for name, pre_tokenizer in PRE_TOKENIZERS.items():
        yield name, None, pre_tokenizer, []
    yield "added tokens", None, p.Metaspace(prepend_scheme="first"), ADDED
    yield "added tokens in lower case", n.Lowercase(), p.Whitespace(), ADDED
    yield "added tokens and bytes", None, p.ByteLevel(add_prefix_space=True), ADDED


def with_vocabulary(normalizer, pre_tokenizer, added, texts):
    pieces = set()
    for text in texts:
        text = text if normalizer is None else normalizer.normalize_str(text)
        pieces.update(piece for piece, _ in pre_tokenizer.pre_tokenize_str(text))
    vocabulary = {piece: number for number, piece in enumerate(["[UNK]", *sorted(pieces - {"[UNK]"})])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_tokens(added)
    return tokenizer


def main():
    stream = Stream(sys.stdout.buffer)
    added = [token.content for token in ADDED]
    texts = WITH_ADDED + adversarial_texts(int(sys.argv[1]), FRAGMENTS, added, every_code_point="every" in sys.argv)
    for name, normalizer, pre_tokenizer, added in cases():
        tokenizer = with_vocabulary(normalizer, pre_tokenizer, added, texts)
        stream.text(name)
        stream.text(tokenizer.to_str())
        stream.numbers([len(texts)])
        for text in texts:
            stream.text(text)
            write_encoding(stream, tokenizer.encode(text))
    stream.text("")


if __name__ == "__main__":
    main()
