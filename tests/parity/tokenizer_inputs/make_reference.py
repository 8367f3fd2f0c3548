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
SPACES = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "model_max_length": 8}
ACCENTS = {**BERT, "strip_accents": False, "tokenize_chinese_chars": False}
# Models and classes whose files leave the special tokens to the class, with the kind of their vocabularies.
MODEL_TYPES = {
    "albert": "Unigram", "bert": "WordPiece", "deberta-v2": "Unigram", "distilbert": "WordPiece", "electra": "WordPiece",
    "gpt2": "BPE", "llama": "BPE", "mistral": "BPE", "modernbert": "BPE", "mpnet": "WordPiece", "qwen2": "BPE",
    "qwen3": "BPE", "roberta": "BPE", "xlm-roberta": "Unigram",
}
CLASSES = {
    "AlbertTokenizer": "Unigram", "BertTokenizerFast": "WordPiece", "DebertaV2TokenizerFast": "Unigram",
    "DistilBertTokenizer": "WordPiece", "ElectraTokenizer": "WordPiece", "GPT2Tokenizer": "BPE", "LlamaTokenizer": "BPE",
    "MPNetTokenizer": "WordPiece", "PreTrainedTokenizerFast": "WordPiece", "Qwen2Tokenizer": "BPE",
    "RobertaTokenizer": "BPE", "XLMRobertaTokenizer": "Unigram",
}
SPECIAL = ["pad_token", "unk_token", "cls_token", "sep_token", "mask_token", "bos_token", "eos_token"]

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


def tokenizer_json(side="right", decoder=decoders.WordPiece()):
    """A small WordPiece tokenizer that asks for truncation and padding, of which AutoTokenizer heeds the sides only."""
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(VOCAB)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoder
    tokenizer.add_special_tokens(VOCAB[:5])
    tokenizer.enable_truncation(6, direction=side)
    tokenizer.enable_padding(length=6, direction=side)
    return tokenizer.to_str()


def bpe_json():
    """BPE of whole words, which decodes to words with spaces between them."""
    ids = {word: i for i, word in enumerate(VOCAB)}
    tokenizer = Tokenizer(models.BPE(ids, [], unk_token="[UNK]", fuse_unk=True, ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer.to_str()


def checkpoints():
    vocab = "\n".join(VOCAB) + "\n"
    return {
        "bert": {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": json.dumps(BERT)},
        "left": {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": json.dumps(LEFT)},
        "left by its tokenizer.json": {"tokenizer.json": tokenizer_json("left"), "tokenizer_config.json": json.dumps(BERT)},
        "spaces before punctuation": {"tokenizer.json": tokenizer_json(decoder=decoders.WordPiece(cleanup=False)),
                                      "tokenizer_config.json": json.dumps(SPACES)},
        "spaces taken away": {"tokenizer.json": tokenizer_json(decoder=decoders.WordPiece(cleanup=False)),
                              "tokenizer_config.json": json.dumps(SPACES | {"clean_up_tokenization_spaces": True})},
        "spaces of BPE": {"tokenizer.json": bpe_json(),
                          "tokenizer_config.json": json.dumps(SPACES | {"clean_up_tokenization_spaces": True})},
        "vocab": {"vocab.txt": vocab, "tokenizer_config.json": json.dumps(BERT)},
        "accents": {"vocab.txt": vocab + "ä\n", "tokenizer_config.json": json.dumps(ACCENTS)},
    }


def tokenizer_json_of(kind, side=None, byte_level=False):
    """A tokenizer that has all special tokens of all classes; with a side, it pads with <pad> and cuts there."""
    words = VOCAB[:5] + ["<s>", "</s>", "<pad>", "<unk>", "<mask>", "<|endoftext|>", "a"]
    ids = {word: i for i, word in enumerate(words)}
    model = {
        "BPE": lambda: models.BPE(ids, []),
        "Unigram": lambda: models.Unigram([(word, -1.0) for word in words], 1, False),
        "WordPiece": lambda: models.WordPiece(ids, unk_token="[UNK]"),
    }[kind]()
    tokenizer = Tokenizer(model)
    if byte_level:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    if side:
        tokenizer.enable_padding(direction=side, pad_token="<pad>", pad_id=7)
        tokenizer.enable_truncation(6, direction=side)
    return tokenizer.to_str()


def files_without_tokens():
    """Checkpoints that name no special tokens, or not all, by what they have."""
    def files(kind, model_type=None, side=None, byte_level=False, **config):
        models_file = {"config.json": json.dumps({"model_type": model_type})} if model_type else {}
        return {"tokenizer.json": tokenizer_json_of(kind, side, byte_level), "tokenizer_config.json": json.dumps(config),
                **models_file}

    mapped = files("WordPiece", "bert", pad_token="[MASK]", sep_token=None)
    mapped["special_tokens_map.json"] = json.dumps({"pad_token": "<pad>", "mask_token": None})
    decoded = files("WordPiece", "bert", pad_token="[MASK]", added_tokens_decoder={})
    decoded["special_tokens_map.json"] = json.dumps({"pad_token": "<pad>"})
    return {
        **{model_type: files(kind, model_type) for model_type, kind in MODEL_TYPES.items()},
        **{name: files(kind, tokenizer_class=name) for name, kind in CLASSES.items()},
        "bert-base-uncased": files("WordPiece", "bert", do_lower_case=True, model_max_length=512),
        "bert with another class": files("BPE", "bert", tokenizer_class="RobertaTokenizer"),
        "bert with a class that is none": files("WordPiece", "bert", tokenizer_class="PreTrainedTokenizerFast"),
        "modernbert with a class": files("WordPiece", "modernbert", tokenizer_class="BertTokenizer"),
        "qwen2 with another class": files("BPE", "qwen2", tokenizer_class="PreTrainedTokenizerFast"),
        "no pad token": files("WordPiece", "bert", pad_token=None),
        "sides of the file": files("WordPiece", "bert", side="left"),
        "sides of the file and others": files("WordPiece", "bert", side="left", padding_side="right",
                                              truncation_side="right"),
        "sides of the file, not of the class": files("BPE", tokenizer_class="LlamaTokenizer", side="right"),
        "padding of the file": files("WordPiece", side="left", tokenizer_class="PreTrainedTokenizerFast"),
        "padding of the file, and none": files("WordPiece", side="left", tokenizer_class="PreTrainedTokenizerFast",
                                               pad_token=None),
        "padding of the file, and none in the class": files("BPE", "gpt2", side="left"),
        "padding of the file, and another": files("WordPiece", "bert", side="right"),
        "llama by bytes": files("BPE", "llama", byte_level=True, tokenizer_class="LlamaTokenizer"),
        "llama by bytes, fast": files("BPE", byte_level=True, tokenizer_class="LlamaTokenizerFast"),
        "a map": mapped,
        "a map that is not heeded": decoded,
    }


def record_tokens(files):
    with tempfile.TemporaryDirectory() as directory:
        for name, content in files.items():
            (pathlib.Path(directory) / name).write_text(content)
        tokenizer = AutoTokenizer.from_pretrained(directory)
        return {
            "files": files,
            "tokens": {name: getattr(tokenizer, name) for name in SPECIAL},
            "model_input_names": tokenizer.model_input_names,
            "padding_side": tokenizer.padding_side,
            "truncation_side": tokenizer.truncation_side,
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
                    "batch_of_pairs": dict(tokenizer(PAIRS, **call)) if call.get("padding") else None,
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
    reference = {
        "texts": TEXTS,
        "pairs": PAIRS,
        "checkpoints": {name: record(files) for name, files in checkpoints().items()},
        "defaults": {name: record_tokens(files) for name, files in files_without_tokens().items()},
    }
    with open(sys.argv[1], "w") as file:
        json.dump(reference, file)
        file.write("\n")


main()
