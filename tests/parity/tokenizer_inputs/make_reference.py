"""Writes what Python's AutoTokenizer and DataCollatorWithPadding give, with the files of the tokenizers they read.

    make_reference.py OUTPUT.json
"""

import json
import pathlib
import sys
import tempfile

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoTokenizer, DataCollatorWithPadding

VOCAB = "[PAD] [UNK] [CLS] [SEP] [MASK] a film good bad not very ##ly the end , . ! u ##n".split()
TEXTS = ["a good film", "Not very good , the end .", "badly", "", "unknown words !", "ä good film very very good the end"]
PAIRS = [["a film", "not good"], ["very very very very bad film", "the end"], ["", "a"]]

BERT = {
    "tokenizer_class": "BertTokenizer",
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
    "do_lower_case": True,
    "model_max_length": 8,
}
LEFT = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "pad_token": {"content": "[MASK]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                  "special": True, "__type": "AddedToken"},
    "padding_side": "left",
    "truncation_side": "left",
    "model_max_length": 1000000000000000019884624838656,
}

CALLS = [
    {},
    {"truncation": True},
    {"truncation": True, "max_length": 4},
    {"max_length": 4},
    {"add_special_tokens": False},
    {"padding": "longest"},
    {"padding": "longest", "pad_to_multiple_of": 8},
    {"padding": "max_length", "max_length": 12},
    {"padding": "max_length", "max_length": 5, "truncation": True},
]
COLLATORS = [{}, {"pad_to_multiple_of": 16}, {"padding": "max_length", "max_length": 20}]


def tokenizer_json():
    """A small WordPiece tokenizer that asks for truncation and padding, which AutoTokenizer does not heed."""
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(VOCAB)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(VOCAB[:5])
    tokenizer.enable_truncation(6)
    tokenizer.enable_padding(length=6)
    return tokenizer.to_str()


def checkpoints():
    vocab = "\n".join(VOCAB) + "\n"
    return {
        "bert": {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": json.dumps(BERT)},
        "left": {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": json.dumps(LEFT)},
        "vocab": {"vocab.txt": vocab, "tokenizer_config.json": json.dumps(BERT)},
    }


def record(files):
    with tempfile.TemporaryDirectory() as directory:
        for name, content in files.items():
            (pathlib.Path(directory) / name).write_text(content)
        tokenizer = AutoTokenizer.from_pretrained(directory)
        rows = [dict(tokenizer(text), label=i % 3) for i, text in enumerate(TEXTS)]
        return {
            "files": files,
            "calls": [
                {
                    "options": call,
                    "single": [dict(tokenizer(text, **call)) for text in TEXTS],
                    "pairs": [dict(tokenizer(*pair, **call)) for pair in PAIRS],
                    "batch": dict(tokenizer(TEXTS, **call)) if call.get("padding") else None,
                }
                for call in CALLS
            ],
            "collated": [
                {
                    "options": options,
                    "batch": {
                        name: tensor.tolist()
                        for name, tensor in DataCollatorWithPadding(tokenizer, **options)([dict(r) for r in rows]).items()
                    },
                }
                for options in COLLATORS
            ],
            "decoded": [tokenizer.decode(row["input_ids"]) for row in rows],
        }


def main():
    reference = {"texts": TEXTS, "pairs": PAIRS, "checkpoints": {k: record(v) for k, v in checkpoints().items()}}
    with open(sys.argv[1], "w") as file:
        json.dump(reference, file)
        file.write("\n")


main()
