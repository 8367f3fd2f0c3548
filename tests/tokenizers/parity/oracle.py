"""Writes to standard output what the `tokenizers` package makes of texts, for parity_test.cpp to compare with.

    oracle.py NUM_REAL NUM_ADVERSARIAL TOKENIZER_JSON...

For each tokenizer the stream has a sequence of records, each begun by a letter; numbers are 32-bit and little-endian, texts are UTF-8 after
their length:

  S settings              JSON: add_special_tokens, truncation and padding as a tokenizer.json has them
  E number of texts, texts, encoding, decoded text without and with special tokens; an encoding is its columns, the
    number of its overflowing windows, and each of those as an encoding
  D number of ids, ids, decoded text without and with special tokens
  X the end of this tokenizer
"""

import array
import json
import random
import sys

import tokenizers
from texts import adversarial_texts, real_texts

FULL_COUNT = 10000  # from so many adversarial strings on they hold every code point


class Stream:
    def __init__(self, file):
        self._file = file

    def tag(self, letter):
        self._file.write(letter)

    def numbers(self, values):
        self._file.write(array.array("I", values).tobytes())

    def signed(self, values):
        self._file.write(array.array("i", values).tobytes())

    def text(self, text):
        content = text.encode()
        self.numbers([len(content)])
        self._file.write(content)


def none_as_minus_one(values):
    return [-1 if value is None else value for value in values]


def write_encoding(stream, encoding):
    stream.numbers([len(encoding.ids)])
    stream.numbers(encoding.ids)
    stream.numbers(encoding.type_ids)
    stream.numbers([place for offsets in encoding.offsets for place in offsets])
    stream.signed(none_as_minus_one(encoding.word_ids))
    stream.signed(none_as_minus_one(encoding.sequence_ids))
    stream.numbers(encoding.special_tokens_mask)
    stream.numbers(encoding.attention_mask)
    windows = encoding.overflowing
    stream.numbers([len(windows)])
    for window in windows:
        write_encoding(stream, window)


def write_decoded(stream, tokenizer, ids):
    for skip_special_tokens in (True, False):
        stream.text(tokenizer.decode(ids, skip_special_tokens=skip_special_tokens))


def configure(tokenizer, truncation, padding):
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if truncation:
        tokenizer.enable_truncation(**truncation)
    if padding:
        tokenizer.enable_padding(**padding)


def write_settings(stream, tokenizer, add_special_tokens):
    """As a tokenizer.json spells them, whatever the package's own functions call them."""
    saved = json.loads(tokenizer.to_str())
    settings = {"add_special_tokens": add_special_tokens, "truncation": saved["truncation"], "padding": saved["padding"]}
    stream.tag(b"S")
    stream.text(json.dumps(settings))


def write_encodings(stream, tokenizer, inputs, add_special_tokens):
    """`inputs` are texts or pairs of them. Padding to the longest would depend on the batch, so each goes alone."""
    write_settings(stream, tokenizer, add_special_tokens)
    for texts in inputs:
        pair = texts if isinstance(texts, tuple) else (texts,)
        encoding = tokenizer.encode(*pair, add_special_tokens=add_special_tokens)
        stream.tag(b"E")
        stream.numbers([len(pair)])
        for text in pair:
            stream.text(text)
        write_encoding(stream, encoding)
        write_decoded(stream, tokenizer, encoding.ids)


def write_random_ids(stream, tokenizer, count):
    generator = random.Random(7)
    limit = tokenizer.get_vocab_size(with_added_tokens=True) + 3
    for _ in range(count):
        ids = [generator.randrange(limit) for _ in range(generator.randint(0, 20))]
        stream.tag(b"D")
        stream.numbers([len(ids)])
        stream.numbers(ids)
        write_decoded(stream, tokenizer, ids)


def write_tokenizer(stream, path, real, num_adversarial):
    tokenizer = tokenizers.Tokenizer.from_file(path)
    words = sorted({word for text in real[:200] for word in text.split()})
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    texts = real + adversarial_texts(num_adversarial, words, added, every_code_point=num_adversarial >= FULL_COUNT)
    random.Random(3).shuffle(texts)

    write_encodings(stream, tokenizer, texts[:100], True)  # with the truncation and padding of the file
    configure(tokenizer, None, None)
    write_encodings(stream, tokenizer, texts, True)
    write_encodings(stream, tokenizer, texts[::10], False)
    short = [text[:200] for text in texts]
    pairs = list(zip(short[::20], short[7::20]))
    write_encodings(stream, tokenizer, pairs, True)
    write_encodings(stream, tokenizer, pairs[::5], False)
    pad = {"pad_id": 5, "pad_type_id": 1, "pad_token": "[PAD]"}
    for direction in ("right", "left"):
        windows = {"max_length": 20, "stride": 3, "direction": direction}
        configure(tokenizer, windows, {"direction": direction, "pad_to_multiple_of": 8, **pad})
        write_encodings(stream, tokenizer, short[::40], True)
        configure(tokenizer, windows, {"direction": direction, "length": 24, **pad})
        # The windows of both texts are combined, so these texts are shorter still.
        write_encodings(stream, tokenizer, [(a[:50], b[:50]) for a, b in pairs[::3]], True)
    configure(tokenizer, None, None)
    write_random_ids(stream, tokenizer, len(texts) // 10)
    stream.tag(b"X")


def main():
    num_real, num_adversarial, *paths = sys.argv[1:]
    stream, real = Stream(sys.stdout.buffer), real_texts(int(num_real))
    for path in paths:
        write_tokenizer(stream, path, real, int(num_adversarial))


if __name__ == "__main__":
    main()
