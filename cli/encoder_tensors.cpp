#include "cli/family_tensors.h"

#include <algorithm>

namespace accelerate::cli {

namespace {

constexpr uint64_t kIdBytes = 8;

/// The token, position and segment embeddings of BERT, of size `width`.
void add_bert_embeddings(TensorList& list, const Sizes& size, uint64_t width) {
  auto positions = size("max_position_embeddings");
  list.add("embeddings.word_embeddings.weight", size("vocab_size") * width);
  list.add("embeddings.position_embeddings.weight", positions * width);
  list.add("embeddings.token_type_embeddings.weight", size("type_vocab_size", 2) * width);
  list.add_norm("embeddings.LayerNorm", width);
  list.add("embeddings.position_ids", positions, kIdBytes);
  list.add("embeddings.token_type_ids", positions, kIdBytes);
}

/// The names of the projection matrices and the layer norm of an encoder's attention.
struct AttentionNames {
  std::vector<std::string> matrices;
  std::string norm;
};

/// The layers of BERT.
void add_bert_layers(TensorList& list, const Sizes& size, const AttentionNames& names) {
  auto hidden = size("hidden_size"), inner = size("intermediate_size");
  for (uint64_t i = 0; i < size.layers("num_hidden_layers"); ++i) {
    auto layer = "encoder.layer." + std::to_string(i);
    for (const auto& matrix : names.matrices) list.add_linear(layer + ".attention." + matrix, hidden, hidden);
    list.add_norm(layer + ".attention." + names.norm, hidden);
    list.add_linear(layer + ".intermediate.dense", hidden, inner);
    list.add_linear(layer + ".output.dense", inner, hidden);
    list.add_norm(layer + ".output.LayerNorm", hidden);
  }
}

const AttentionNames& bert_attention() {
  static const AttentionNames names{{"self.query", "self.key", "self.value", "output.dense"}, "output.LayerNorm"};
  return names;
}

bool contains(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::vector<ModelTensor> bert_tensors(const Sizes& size) {
  auto hidden = size("hidden_size");
  TensorList list;
  add_bert_embeddings(list, size, hidden);
  add_bert_layers(list, size, bert_attention());
  list.add_linear("pooler.dense", hidden, hidden);
  return list.tensors;
}

std::vector<ModelTensor> albert_tensors(const Sizes& size) {
  auto hidden = size("hidden_size"), inner = size("intermediate_size"), width = size("embedding_size", 128);
  TensorList list;
  add_bert_embeddings(list, size, width);
  list.add_linear("encoder.embedding_hidden_mapping_in", width, hidden);
  for (uint64_t group = 0; group < size.layers("num_hidden_groups", 1); ++group) {
    for (uint64_t i = 0; i < size.layers("inner_group_num", 1); ++i) {
      auto layer = "encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers." + std::to_string(i);
      list.add_norm(layer + ".full_layer_layer_norm", hidden);
      for (auto part : {".attention.query", ".attention.key", ".attention.value", ".attention.dense"}) {
        list.add_linear(layer + part, hidden, hidden);
      }
      list.add_norm(layer + ".attention.LayerNorm", hidden);
      list.add_linear(layer + ".ffn", hidden, inner);
      list.add_linear(layer + ".ffn_output", inner, hidden);
    }
  }
  list.add_linear("pooler", hidden, hidden);
  return list.tensors;
}

std::vector<ModelTensor> deberta_v2_tensors(const Sizes& size) {
  auto hidden = size("hidden_size"), positions = size("max_position_embeddings");
  auto width = size("embedding_size", hidden), token_types = size("type_vocab_size", 0);
  TensorList list;
  list.add("embeddings.word_embeddings.weight", size("vocab_size") * width);
  if (size.is_on("position_biased_input", true)) list.add("embeddings.position_embeddings.weight", positions * width);
  if (token_types > 0) list.add("embeddings.token_type_embeddings.weight", token_types * width);
  if (width != hidden) list.add_linear("embeddings.embed_proj", width, hidden, /*bias=*/false);
  list.add_norm("embeddings.LayerNorm", hidden);
  list.add("embeddings.position_ids", positions, kIdBytes);

  bool relative = size.is_on("relative_attention", false);
  AttentionNames names{{"self.query_proj", "self.key_proj", "self.value_proj", "output.dense"}, "output.LayerNorm"};
  if (relative && !size.is_on("share_att_key", false)) {
    auto scores = size.words("pos_att_type");
    if (contains(scores, "c2p")) names.matrices.emplace_back("self.pos_key_proj");
    if (contains(scores, "p2c")) names.matrices.emplace_back("self.pos_query_proj");
  }
  add_bert_layers(list, size, names);

  if (relative) {
    auto farthest = size.if_positive("max_relative_positions").value_or(positions);
    list.add("encoder.rel_embeddings.weight", 2 * size.if_positive("position_buckets").value_or(farthest) * hidden);
  }
  if (contains(size.words("norm_rel_ebd"), "layer_norm")) list.add_norm("encoder.LayerNorm", hidden);
  if (auto kernel = size.if_positive("conv_kernel_size")) {
    auto groups = size.if_positive("conv_groups").value_or(1);
    list.add_linear("encoder.conv.conv", hidden / groups * *kernel, hidden);
    list.add_norm("encoder.conv.LayerNorm", hidden);
  }
  return list.tensors;
}

std::vector<ModelTensor> distilbert_tensors(const Sizes& size) {
  auto hidden = size("dim"), inner = size("hidden_dim"), positions = size("max_position_embeddings");
  TensorList list;
  list.add("embeddings.word_embeddings.weight", size("vocab_size") * hidden);
  list.add("embeddings.position_embeddings.weight", positions * hidden);
  list.add_norm("embeddings.LayerNorm", hidden);
  list.add("embeddings.position_ids", positions, kIdBytes);
  for (uint64_t i = 0; i < size.layers("n_layers"); ++i) {
    auto layer = "transformer.layer." + std::to_string(i);
    for (auto part : {".attention.q_lin", ".attention.k_lin", ".attention.v_lin", ".attention.out_lin"}) {
      list.add_linear(layer + part, hidden, hidden);
    }
    list.add_norm(layer + ".sa_layer_norm", hidden);
    list.add_linear(layer + ".ffn.lin1", hidden, inner);
    list.add_linear(layer + ".ffn.lin2", inner, hidden);
    list.add_norm(layer + ".output_layer_norm", hidden);
  }
  return list.tensors;
}

std::vector<ModelTensor> electra_tensors(const Sizes& size) {
  auto hidden = size("hidden_size"), width = size("embedding_size", 128);
  TensorList list;
  add_bert_embeddings(list, size, width);
  if (width != hidden) list.add_linear("embeddings_project", width, hidden);
  add_bert_layers(list, size, bert_attention());
  return list.tensors;
}

std::vector<ModelTensor> modernbert_tensors(const Sizes& size) {
  auto hidden = size("hidden_size"), inner = size("intermediate_size"), heads = size("num_attention_heads");
  auto num_layers = size.layers("num_hidden_layers");
  bool norm_bias = size.is_on("norm_bias", false), attention_bias = size.is_on("attention_bias", false);
  bool mlp_bias = size.is_on("mlp_bias", false);
  TensorList list;
  list.add("embeddings.tok_embeddings.weight", size("vocab_size") * hidden);
  list.add_norm("embeddings.norm", hidden, norm_bias);
  for (uint64_t i = 0; i < num_layers; ++i) {
    auto layer = "layers." + std::to_string(i);
    if (i > 0) list.add_norm(layer + ".attn_norm", hidden, norm_bias);
    list.add_linear(layer + ".attn.Wqkv", hidden, 3 * hidden, attention_bias);
    list.add_linear(layer + ".attn.Wo", hidden, hidden, attention_bias);
    list.add_norm(layer + ".mlp_norm", hidden, norm_bias);
    list.add_linear(layer + ".mlp.Wi", hidden, 2 * inner, mlp_bias);
    list.add_linear(layer + ".mlp.Wo", inner, hidden, mlp_bias);
  }
  list.add_norm("final_norm", hidden, norm_bias);

  auto kinds = size.words("layer_types");
  if (kinds.empty()) {
    if (num_layers > 0) kinds.emplace_back("full_attention");
    if (num_layers > 1 && size("global_attn_every_n_layers", 3) != 1) kinds.emplace_back("sliding_attention");
  }
  for (auto kind : {"full_attention", "sliding_attention"}) {
    if (!contains(kinds, kind)) continue;
    auto pairs = heads == 0 ? 0 : hidden / heads / 2;
    list.add(std::string("rotary_emb.") + kind + "_inv_freq", pairs);
    list.add(std::string("rotary_emb.") + kind + "_original_inv_freq", pairs);
  }
  return list.tensors;
}

std::vector<ModelTensor> mpnet_tensors(const Sizes& size) {
  auto hidden = size("hidden_size"), positions = size("max_position_embeddings");
  TensorList list;
  list.add("embeddings.word_embeddings.weight", size("vocab_size") * hidden);
  list.add("embeddings.position_embeddings.weight", positions * hidden);
  list.add_norm("embeddings.LayerNorm", hidden);
  list.add("embeddings.position_ids", positions, kIdBytes);
  add_bert_layers(list, size, {{"attn.q", "attn.k", "attn.v", "attn.o"}, "LayerNorm"});
  list.add("encoder.relative_attention_bias.weight",
           size("relative_attention_num_buckets", 32) * size("num_attention_heads"));
  list.add_linear("pooler.dense", hidden, hidden);
  return list.tensors;
}

}  // namespace accelerate::cli
