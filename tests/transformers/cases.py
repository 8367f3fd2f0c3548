"""The small models that C++ and Python are compared on: odd sizes, with and without padding, every kind of label."""

import dataclasses
from typing import Callable

import torch
import transformers


def class_labels(count):
    return lambda batch, ids, generator: torch.randint(0, count, (batch,), generator=generator)


def numbers(batch, ids, generator):
    return torch.rand(batch, generator=generator)


def several_labels(count):
    return lambda batch, ids, generator: torch.randint(0, 2, (batch, count), generator=generator).float()


def next_tokens(batch, ids, generator):
    return ids.clone()


@dataclasses.dataclass
class Case:
    name: str
    model_class: type
    make_config: Callable
    make_labels: Callable = class_labels(2)
    lengths: tuple = (11, 7, 3)
    padding_side: str = "right"
    with_mask: bool = True
    token_types: bool = False
    dtype: torch.dtype = torch.float32
    checkpoint_of_base: bool = False  # saved without the head, which is then initialised on loading
    max_shard_size: str = "50GB"
    loading_class: type | None = None  # another class than the one that was saved


def bert(**changes):
    sizes = {"vocab_size": 97, "hidden_size": 36, "num_hidden_layers": 2, "num_attention_heads": 3,
             "intermediate_size": 50, "max_position_embeddings": 20}
    return lambda: transformers.BertConfig(**(sizes | changes))


Bert = transformers.BertForSequenceClassification

CASES = [
    Case("bert", Bert, bert(), token_types=True),
    Case("bert_without_padding", Bert, bert(), lengths=(9, 9)),
    Case("bert_without_mask", Bert, bert(num_labels=5), class_labels(5), with_mask=False),
    Case("bert_regression", Bert, bert(num_labels=1), numbers),
    Case("bert_several_labels", Bert, bert(num_labels=4), several_labels(4)),
    Case("bert_gelu_new", Bert, bert(hidden_act="gelu_new", classifier_dropout=0.3)),
    Case("bert_bfloat16", Bert, bert(), dtype=torch.bfloat16),
    Case("bert_new_head", Bert, bert(num_labels=3), class_labels(3), checkpoint_of_base=True),
    Case("bert_sharded", Bert, bert(), max_shard_size="20KB"),
]
