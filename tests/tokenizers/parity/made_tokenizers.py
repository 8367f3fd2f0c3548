"""Writes small tokenizer files whose components the real ones do not have.

    made_tokenizers.py FOLDER
"""

import base64
import json
import pathlib
import struct
import sys

from texts import real_texts
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

TEXTS = [text[:400] for text in real_texts(200)]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def trained(model, trainer, pre_tokenizer, normalizer=None):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def word_level():
    """Also words that are added with each option, and a template that uses a text twice."""
    tokenizer = trained(
        models.WordLevel(unk_token="[UNK]"),
        trainers.WordLevelTrainer(vocab_size=800, special_tokens=["[UNK]", "[X]", "[Y]"], show_progress=False),
        pre_tokenizers.Whitespace(),
        normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]),
    )
    tokenizer.add_tokens([
        AddedToken("movie", single_word=True),
        AddedToken("the", lstrip=True, rstrip=True, normalized=True),
        AddedToken("FILM", normalized=False),
    ])  # fmt: skip
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[X]:3 $A [Y] $A:1", pair="$B:1 [X] $A [Y]:2", special_tokens=[("[X]", 1), ("[Y]", 2)]
    )
    return tokenizer


def bpe_with_suffix():
    special = ["<unk>", "[SEP]", "[CLS]"]
    tokenizer = trained(
        models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=True),
        trainers.BpeTrainer(
            vocab_size=900, special_tokens=special, end_of_word_suffix="</w>", limit_alphabet=60, show_progress=False
        ),
        pre_tokenizers.BertPreTokenizer(),
        normalizers.BertNormalizer(lowercase=False, strip_accents=True),
    )
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 1), ("[CLS]", 2))
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return tokenizer


def bpe_with_prefix():
    tokenizer = trained(
        models.BPE(unk_token="<unk>", continuing_subword_prefix="##"),
        trainers.BpeTrainer(
            vocab_size=900,
            special_tokens=["<unk>"],
            continuing_subword_prefix="##",
            limit_alphabet=70,
            show_progress=False,
        ),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True)]),
    )
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    return tokenizer


def roberta(add_prefix_space):
    tokenizer = trained(
        models.BPE(),
        trainers.BpeTrainer(
            vocab_size=1000,
            special_tokens=["<s>", "</s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
        pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space),
    )
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 1), ("<s>", 0), trim_offsets=True, add_prefix_space=add_prefix_space
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def template_before_byte_level():
    tokenizer = roberta(add_prefix_space=True)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.ByteLevel()])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\p{L}+|[^\p{L}\s]+"), "isolated")
    tokenizer.post_processor = processors.Sequence([
        processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A $B:1", special_tokens=[("<s>", 0), ("</s>", 1)]),
        processors.ByteLevel(trim_offsets=True),
    ])  # fmt: skip
    return tokenizer


def bpe_with_some_bytes():
    """Bytes for Latin letters alone, so that other characters are unknown beside them."""
    vocabulary = ["<unk>", "▁", *"abcdefghijklmnopqrstuvwxyz", *BYTES[0x20:0xC4]]
    merges = [("▁", "t"), ("▁t", "h"), ("▁th", "e"), ("a", "n"), ("e", "r"), ("<0xC3>", "<0xA9>"), ("i", "n")]
    vocabulary += [left + right for left, right in merges]
    model = models.BPE(
        vocab={token: i for i, token in enumerate(vocabulary)},
        merges=merges,
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=True,
        ignore_merges=True,
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0),
    ])  # fmt: skip
    return tokenizer


def unigram_with_bytes():
    tokenizer = trained(
        models.Unigram(),
        trainers.UnigramTrainer(
            vocab_size=800, special_tokens=["<unk>", *BYTES], unk_token="<unk>", show_progress=False
        ),
        pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
        normalizers.Nmt(),
    )
    saved = json.loads(tokenizer.to_str())
    saved["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(saved))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    return tokenizer


def charsmap():
    """A table in which every first byte of a character, as a text of its own, becomes one of several replacements. It
    shows where graphemes begin, because a short one is replaced as a whole."""
    replacements = [b"X", b"", b"yz", "ä".encode(), b"abcdef"]
    starts = [sum(len(text) + 1 for text in replacements[:i]) for i in range(len(replacements))]
    units = [0] * 1024
    units[0] = 256 << 10
    for byte in [*range(1, 0x20), 0xA9, *range(0xC2, 0xF5), ord("q")]:
        node = 256 ^ byte
        leaf = 512 | byte
        units[node] = byte | 1 << 8 | (node ^ leaf) << 10
        units[leaf] = 1 << 31 | starts[byte % len(starts)]
    return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"\0".join(replacements) + b"\0"


def precompiled():
    characters = sorted({character for text in TEXTS for character in text} | set("Xyzäabcdef"))
    vocabulary = [("<unk>", 0.0), *((character, -1.0 - i / 100) for i, character in enumerate(characters))]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0))
    saved = json.loads(tokenizer.to_str())
    saved["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap()).decode()}
    return Tokenizer.from_str(json.dumps(saved))


def speech():
    """One token for each character, and CTC on the way back."""
    vocabulary = ["<pad>", "<unk>", "|", *"abcdefghijklmnopqrstuvwxyz'.,!?"]
    tokenizer = Tokenizer(models.WordLevel({token: i for i, token in enumerate(vocabulary)}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(" ", "|")])
    tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(1)
    tokenizer.decoder = decoders.CTC()
    return tokenizer


MADE = {
    "word_level": word_level,
    "bpe_with_suffix": bpe_with_suffix,
    "bpe_with_prefix": bpe_with_prefix,
    "roberta": lambda: roberta(add_prefix_space=False),
    "roberta_with_space": lambda: roberta(add_prefix_space=True),
    "template_before_byte_level": template_before_byte_level,
    "bpe_with_some_bytes": bpe_with_some_bytes,
    "unigram_with_bytes": unigram_with_bytes,
    "precompiled": precompiled,
    "speech": speech,
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in MADE.items():
        make().save(str(folder / f"{name}.json"))


if __name__ == "__main__":
    main()
