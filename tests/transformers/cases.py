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
    torch_file: str = ""  # "zip" or "legacy": pytorch_model.bin in this form instead of model.safetensors
    without_defaults: bool = False  # config.json names only what differs from the class
    kept: str = ""  # only weights with this in their names stay in the checkpoint; the others are initialised on loading


def distilbert(**changes):
    sizes = {"vocab_size": 97, "dim": 36, "n_layers": 2, "n_heads": 3, "hidden_dim": 50, "max_position_embeddings": 20}
    return lambda: transformers.DistilBertConfig(**(sizes | changes))


def like_bert(config_class, **changes):
    sizes = {"vocab_size": 97, "hidden_size": 36, "num_hidden_layers": 2, "num_attention_heads": 3,
             "intermediate_size": 50, "max_position_embeddings": 20}
    return lambda: config_class(**(sizes | changes))


def bert(**changes):
    return like_bert(transformers.BertConfig, **changes)


def electra(**changes):
    return like_bert(transformers.ElectraConfig, **({"embedding_size": 20} | changes))


def albert(**changes):
    return like_bert(transformers.AlbertConfig, **({"embedding_size": 20, "num_hidden_layers": 3} | changes))


def mpnet(**changes):
    return like_bert(transformers.MPNetConfig, **({"max_position_embeddings": 200} | changes))


def modernbert(**changes):
    sizes = {"num_hidden_layers": 4, "pad_token_id": 96, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1,
             "sep_token_id": 2, "local_attention": 8}
    return like_bert(transformers.ModernBertConfig, **(sizes | changes))


def deberta(**changes):
    sizes = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8, "max_relative_positions": -1,
             "norm_rel_ebd": "layer_norm", "share_att_key": True, "position_biased_input": False,
             "max_position_embeddings": 40}
    return like_bert(transformers.DebertaV2Config, **(sizes | changes))


def gpt2(**changes):
    sizes = {"vocab_size": 97, "n_embd": 36, "n_layer": 2, "n_head": 3, "n_positions": 20, "pad_token_id": 0,
             "bos_token_id": 1, "eos_token_id": 2}
    return lambda: transformers.GPT2Config(**(sizes | changes))


def like_llama(config_class, **changes):
    sizes = {"vocab_size": 97, "hidden_size": 36, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2,
             "intermediate_size": 50, "max_position_embeddings": 40, "pad_token_id": 0}
    return lambda: config_class(**(sizes | changes))


def llama(**changes):
    return like_llama(transformers.LlamaConfig, **changes)


def qwen2(**changes):
    return like_llama(transformers.Qwen2Config, **changes)


def qwen3(**changes):
    return like_llama(transformers.Qwen3Config, **({"head_dim": 10} | changes))


def mistral(**changes):
    return like_llama(transformers.MistralConfig, **changes)


LLAMA3 = {"rope_type": "llama3", "rope_theta": 50.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
YARN = {"rope_type": "yarn", "rope_theta": 50.0, "factor": 4.0, "original_max_position_embeddings": 10}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 50.0, "factor": 2.7}
LONGROPE = {"rope_type": "longrope", "rope_theta": 50.0, "short_factor": [1.0, 1.1, 1.3], "long_factor": [1.0, 2.5, 4],
            "original_max_position_embeddings": 12}
DROPOUT = {"attention_dropout": 0.1, "embedding_dropout": 0.2, "mlp_dropout": 0.1, "classifier_dropout": 0.3}

Bert = transformers.BertForSequenceClassification
DistilBert = transformers.DistilBertForSequenceClassification
Roberta = transformers.RobertaForSequenceClassification
Electra = transformers.ElectraForSequenceClassification
Albert = transformers.AlbertForSequenceClassification
MPNet = transformers.MPNetForSequenceClassification
ModernBert = transformers.ModernBertForSequenceClassification
Deberta = transformers.DebertaV2ForSequenceClassification
GPT2 = transformers.GPT2ForSequenceClassification
Llama = transformers.LlamaForSequenceClassification
LlamaLM = transformers.LlamaForCausalLM

# Those whose names end in _causal_lm predict tokens, all others classify.
CASES = [
    Case("bert", Bert, bert(), token_types=True),
    Case("bert_without_padding", Bert, bert(), lengths=(9, 9)),
    Case("bert_without_mask", Bert, bert(num_labels=5), class_labels(5), with_mask=False),
    Case("bert_regression", Bert, bert(num_labels=1), numbers),
    Case("bert_several_labels", Bert, bert(num_labels=4), several_labels(4)),
    Case("bert_one_row", Bert, bert(), lengths=(9,)),
    Case("bert_one_row_regression", Bert, bert(num_labels=1), numbers, lengths=(8,)),
    Case("bert_one_row_sharded", Bert, bert(num_labels=3), class_labels(3), lengths=(9,), max_shard_size="20KB"),
    Case("bert_gelu_new", Bert, bert(hidden_act="gelu_new", classifier_dropout=0.3)),
    Case("bert_bfloat16", Bert, bert(), dtype=torch.bfloat16),
    Case("bert_float16", Bert, bert(), dtype=torch.float16),
    Case("bert_new_head", Bert, bert(num_labels=3), class_labels(3), checkpoint_of_base=True),
    Case("bert_new", Bert, bert(), kept="query.bias"),
    Case("bert_sharded", Bert, bert(), max_shard_size="20KB"),
    Case("bert_torch_file", Bert, bert(), torch_file="zip"),
    Case("bert_legacy_torch_file", Bert, bert(), dtype=torch.bfloat16, torch_file="legacy"),
    Case("bert_torch_file_sharded", Bert, bert(), max_shard_size="20KB", torch_file="zip"),
    Case("distilbert", DistilBert, distilbert()),
    Case("distilbert_regression", DistilBert, distilbert(num_labels=1, activation="relu"), numbers, lengths=(9, 9)),
    Case("distilbert_one_row", DistilBert, distilbert(), lengths=(1,)),
    Case("distilbert_bfloat16", DistilBert, distilbert(), dtype=torch.bfloat16),
    Case("distilbert_new", DistilBert, distilbert(sinusoidal_pos_embds=True, dim=39), kept="q_lin.bias"),
    Case("roberta", Roberta, like_bert(transformers.RobertaConfig, type_vocab_size=1)),
    Case("roberta_left", Roberta, like_bert(transformers.RobertaConfig), padding_side="left", token_types=True),
    Case("roberta_five_classes", Roberta, like_bert(transformers.RobertaConfig, num_labels=5), class_labels(5)),
    Case("roberta_regression", Roberta, like_bert(transformers.RobertaConfig, num_labels=1), numbers),
    Case("roberta_new", Roberta, like_bert(transformers.RobertaConfig), kept="query.bias"),
    Case("roberta_one_row", Roberta, like_bert(transformers.RobertaConfig, num_labels=1), numbers, lengths=(5,)),
    Case("roberta_bfloat16", Roberta, like_bert(transformers.RobertaConfig), dtype=torch.bfloat16),
    Case("xlm_roberta", transformers.XLMRobertaForSequenceClassification,
         like_bert(transformers.XLMRobertaConfig, num_labels=3), class_labels(3), checkpoint_of_base=True),
    Case("camembert", transformers.CamembertForSequenceClassification, like_bert(transformers.CamembertConfig)),
    Case("electra", Electra, electra(), token_types=True),
    Case("electra_one_size", Electra, electra(embedding_size=36, num_labels=4), several_labels(4), lengths=(9, 9)),
    Case("electra_new", Electra, electra(), kept="query.bias"),
    Case("albert", Albert, albert(), token_types=True),
    Case("albert_groups", Albert, albert(num_hidden_groups=2, inner_group_num=2, num_hidden_layers=5,
                                         hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)),
    Case("albert_three_classes", Albert, albert(num_labels=3), class_labels(3)),
    Case("albert_regression", Albert, albert(num_labels=1), numbers),
    Case("albert_new", Albert, albert(), kept="query.bias", lengths=(9, 9)),
    Case("mpnet", MPNet, mpnet(), lengths=(37, 9, 2)),
    Case("mpnet_without_padding", MPNet, mpnet(num_labels=5), class_labels(5), lengths=(150, 150)),
    Case("mpnet_bfloat16", MPNet, mpnet(), dtype=torch.bfloat16),
    Case("mpnet_new", MPNet, mpnet(), kept="attn.q.bias"),
    Case("modernbert", ModernBert, modernbert()),
    Case("modernbert_dropout", ModernBert, modernbert(num_labels=3, **DROPOUT), class_labels(3), lengths=(21, 21)),
    Case("modernbert_mean", ModernBert, modernbert(classifier_pooling="mean", norm_bias=True, attention_bias=True,
                                                   mlp_bias=True, classifier_bias=True)),
    Case("modernbert_short", ModernBert, modernbert(local_attention=128)),
    Case("modernbert_rope", ModernBert, modernbert(rope_parameters={
        "full_attention": YARN, "sliding_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 70.0}})),
    Case("modernbert_rope_scaling", ModernBert, modernbert(rope_scaling=LLAMA3)),
    Case("modernbert_dynamic", ModernBert, modernbert(rope_parameters={
        "full_attention": DYNAMIC, "sliding_attention": DYNAMIC | {"factor": 1.3}}), lengths=(31, 7)),
    Case("modernbert_bfloat16", ModernBert, modernbert(), dtype=torch.bfloat16),
    Case("modernbert_new_head", ModernBert, modernbert(), checkpoint_of_base=True),
    Case("modernbert_new", ModernBert, modernbert(), kept="final_norm"),
    Case("deberta", Deberta, deberta(), lengths=(19, 7, 3)),
    Case("deberta_long", Deberta, deberta(max_position_embeddings=16), lengths=(41, 7)),
    Case("deberta_long_without_buckets", Deberta, deberta(max_position_embeddings=16, position_buckets=-1), lengths=(41, 7)),
    Case("deberta_first_version", Deberta, deberta(share_att_key=False, position_buckets=-1, norm_rel_ebd="none",
                                                   conv_kernel_size=3, conv_act="gelu", position_biased_input=True,
                                                   type_vocab_size=2, embedding_size=20), token_types=True),
    Case("deberta_without_padding", Deberta, deberta(pos_att_type=["p2c"], num_labels=4), several_labels(4), lengths=(9, 9)),
    Case("deberta_absolute", Deberta, deberta(relative_attention=False, pos_att_type=None, norm_rel_ebd="none",
                                              position_biased_input=True, cls_dropout=0.3), with_mask=False),
    Case("deberta_regression", Deberta, deberta(num_labels=1), numbers),
    Case("deberta_bfloat16", Deberta, deberta(), dtype=torch.bfloat16),
    Case("deberta_new", Deberta, deberta(conv_kernel_size=3), kept="query_proj.bias"),
    Case("gpt2", GPT2, gpt2()),
    Case("gpt2_left", GPT2, gpt2(num_labels=3, scale_attn_by_inverse_layer_idx=True), class_labels(3), padding_side="left"),
    Case("gpt2_one_text", GPT2, gpt2(pad_token_id=None, n_inner=50), lengths=(9,), token_types=True),
    Case("gpt2_new", GPT2, gpt2(), kept="ln_f"),
    Case("gpt2_causal_lm", transformers.GPT2LMHeadModel, gpt2(), next_tokens),
    Case("gpt2_torch_file_causal_lm", transformers.GPT2LMHeadModel, gpt2(), next_tokens, torch_file="zip"),
    Case("gpt2_untied_causal_lm", transformers.GPT2LMHeadModel, gpt2(tie_word_embeddings=False), next_tokens,
         lengths=(9, 9)),
    Case("gpt2_bfloat16_causal_lm", transformers.GPT2LMHeadModel, gpt2(), next_tokens, dtype=torch.bfloat16),
    Case("llama", Llama, llama(attention_dropout=0.1)),
    Case("llama_heads", Llama, llama(attention_dropout=0.2, num_key_value_heads=6)),
    Case("llama_left", Llama, llama(num_labels=1, attention_bias=True, mlp_bias=True), numbers, padding_side="left"),
    Case("llama_without_mask", Llama, llama(rope_parameters=LLAMA3), with_mask=False),
    Case("llama_new_head", Llama, llama(num_labels=4), several_labels(4), checkpoint_of_base=True),
    Case("llama_one_row", Llama, llama(num_labels=1), numbers, lengths=(9,)),
    Case("llama_one_token_causal_lm", LlamaLM, llama(), next_tokens, lengths=(2,)),
    Case("llama_new", Llama, llama(), kept="model.norm"),
    Case("llama_causal_lm", LlamaLM, llama(num_key_value_heads=None), next_tokens, max_shard_size="20KB"),
    Case("llama_tied_causal_lm", LlamaLM, llama(tie_word_embeddings=True), next_tokens, lengths=(9, 9)),
    Case("llama_bfloat16_causal_lm", LlamaLM, llama(), next_tokens, dtype=torch.bfloat16),
    Case("llama_linear_causal_lm", LlamaLM, llama(rope_parameters={"rope_type": "linear", "factor": 2.5, "rope_theta": 77.0}),
         next_tokens, padding_side="left"),
    Case("llama_yarn", Llama, llama(rope_parameters=YARN)),
    Case("llama_dynamic", Llama, llama(rope_parameters=DYNAMIC), lengths=(40, 7)),
    Case("llama_dynamic_long", Llama, llama(rope_parameters=DYNAMIC), lengths=(53, 7)),
    Case("llama_longrope_causal_lm", LlamaLM, llama(rope_parameters=LONGROPE), next_tokens),
    Case("qwen2", transformers.Qwen2ForSequenceClassification, qwen2()),
    Case("qwen2_several_labels", transformers.Qwen2ForSequenceClassification, qwen2(num_labels=4), several_labels(4)),
    Case("qwen2_regression", transformers.Qwen2ForSequenceClassification, qwen2(num_labels=1), numbers),
    Case("qwen2_causal_lm", transformers.Qwen2ForCausalLM,
         qwen2(use_sliding_window=True, sliding_window=4, max_window_layers=1), next_tokens),
    Case("qwen2_yarn_causal_lm", transformers.Qwen2ForCausalLM,
         qwen2(rope_parameters=YARN | {"mscale": 1.3, "mscale_all_dim": 0.7, "beta_fast": 4, "truncate": False}), next_tokens),
    Case("qwen3", transformers.Qwen3ForSequenceClassification, qwen3(attention_bias=True), lengths=(9, 9)),
    Case("qwen3_five_classes", transformers.Qwen3ForSequenceClassification, qwen3(num_labels=5), class_labels(5)),
    Case("qwen3_regression", transformers.Qwen3ForSequenceClassification, qwen3(num_labels=1), numbers),
    Case("qwen3_causal_lm", transformers.Qwen3ForCausalLM, qwen3(tie_word_embeddings=True), next_tokens),
    Case("mistral", transformers.MistralForSequenceClassification, mistral(sliding_window=4)),
    Case("mistral_three_classes", transformers.MistralForSequenceClassification, mistral(num_labels=3), class_labels(3)),
    Case("mistral_regression", transformers.MistralForSequenceClassification, mistral(num_labels=1), numbers),
    Case("mistral_longrope", transformers.MistralForSequenceClassification,
         mistral(rope_parameters=LONGROPE | {"factor": 3.0}), lengths=(23, 9)),
    Case("mistral_causal_lm", transformers.MistralForCausalLM, mistral(sliding_window=None), next_tokens),
]

# One of each architecture again, of which config.json leaves out all that is as in its class.
ARCHITECTURES = ("bert", "distilbert", "roberta", "xlm_roberta", "camembert", "electra", "albert", "mpnet", "modernbert", "deberta",
                 "gpt2", "gpt2_causal_lm", "llama", "llama_causal_lm", "qwen2", "qwen2_causal_lm", "qwen3", "qwen3_causal_lm",
                 "mistral", "mistral_causal_lm")
CASES += [dataclasses.replace(case, name="defaults_of_" + case.name, without_defaults=True)
          for case in CASES if case.name in ARCHITECTURES]
