#include "cli/model_families.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/listed.h"

namespace accelerate::cli {

namespace {

/// The sizes of a configuration, checked as they are asked for.
class Sizes {
 public:
  Sizes(const nlohmann::json& config, std::string source) : config_(config), source_(std::move(source)) {}

  uint64_t operator()(const std::string& key, std::optional<uint64_t> preset = std::nullopt) const {
    auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) {
      if (preset) return *preset;
      fail(source_, ": has no ", key, ", which this family needs");
    }
    if (!found->is_number_unsigned() || *found > 1'000'000'000) {
      fail(source_, ": ", key, " is ", found->dump(), "; it has to be a whole number");
    }
    return found->get<uint64_t>();
  }

  /// How many layers, each of which becomes a few names.
  uint64_t layers(const std::string& key) const {
    const auto count = (*this)(key);
    if (count > 100'000) fail(source_, ": ", key, " is ", count, "; no model has so many layers");
    return count;
  }

  bool is_on(const std::string& key, bool preset) const {
    auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) return preset;
    if (!found->is_boolean()) fail(source_, ": ", key, " is ", found->dump(), "; it has to be true or false");
    return found->get<bool>();
  }

 private:
  const nlohmann::json& config_;
  std::string source_;
};

/// A list of tensors that grows by modules.
class TensorList {
 public:
  void add(const std::string& name, uint64_t elements, uint64_t element_bytes = 4) {
    tensors.push_back({name, elements * element_bytes});
  }
  void add_linear(const std::string& name, uint64_t inputs, uint64_t outputs, bool bias = true) {
    add(name + ".weight", inputs * outputs);
    if (bias) add(name + ".bias", outputs);
  }
  void add_layer_norm(const std::string& name, uint64_t size) {
    add(name + ".weight", size);
    add(name + ".bias", size);
  }

  std::vector<ModelTensor> tensors;
};

std::vector<ModelTensor> bert_tensors(const Sizes& size) {
  auto hidden = size("hidden_size"), inner = size("intermediate_size"), positions = size("max_position_embeddings");
  TensorList list;
  list.add("embeddings.word_embeddings.weight", size("vocab_size") * hidden);
  list.add("embeddings.position_embeddings.weight", positions * hidden);
  list.add("embeddings.token_type_embeddings.weight", size("type_vocab_size", 2) * hidden);
  list.add_layer_norm("embeddings.LayerNorm", hidden);
  list.add("embeddings.position_ids", positions, 8);
  list.add("embeddings.token_type_ids", positions, 8);
  for (uint64_t i = 0; i < size.layers("num_hidden_layers"); ++i) {
    auto layer = "encoder.layer." + std::to_string(i);
    for (auto part : {".attention.self.query", ".attention.self.key", ".attention.self.value"}) {
      list.add_linear(layer + part, hidden, hidden);
    }
    list.add_linear(layer + ".attention.output.dense", hidden, hidden);
    list.add_layer_norm(layer + ".attention.output.LayerNorm", hidden);
    list.add_linear(layer + ".intermediate.dense", hidden, inner);
    list.add_linear(layer + ".output.dense", inner, hidden);
    list.add_layer_norm(layer + ".output.LayerNorm", hidden);
  }
  list.add_linear("pooler.dense", hidden, hidden);
  return list.tensors;
}

std::vector<ModelTensor> distilbert_tensors(const Sizes& size) {
  auto hidden = size("dim"), inner = size("hidden_dim"), positions = size("max_position_embeddings");
  TensorList list;
  list.add("embeddings.word_embeddings.weight", size("vocab_size") * hidden);
  list.add("embeddings.position_embeddings.weight", positions * hidden);
  list.add_layer_norm("embeddings.LayerNorm", hidden);
  list.add("embeddings.position_ids", positions, 8);
  for (uint64_t i = 0; i < size.layers("n_layers"); ++i) {
    auto layer = "transformer.layer." + std::to_string(i);
    for (auto part : {".attention.q_lin", ".attention.k_lin", ".attention.v_lin", ".attention.out_lin"}) {
      list.add_linear(layer + part, hidden, hidden);
    }
    list.add_layer_norm(layer + ".sa_layer_norm", hidden);
    list.add_linear(layer + ".ffn.lin1", hidden, inner);
    list.add_linear(layer + ".ffn.lin2", inner, hidden);
    list.add_layer_norm(layer + ".output_layer_norm", hidden);
  }
  return list.tensors;
}

std::vector<ModelTensor> gpt2_tensors(const Sizes& size) {
  auto hidden = size("n_embd"), positions = size("n_positions"), inner = size("n_inner", 4 * hidden);
  TensorList list;
  list.add("wte.weight", size("vocab_size") * hidden);
  list.add("wpe.weight", positions * hidden);
  for (uint64_t i = 0; i < size.layers("n_layer"); ++i) {
    auto block = "h." + std::to_string(i);
    list.add_layer_norm(block + ".ln_1", hidden);
    list.add_linear(block + ".attn.c_attn", hidden, 3 * hidden);
    list.add_linear(block + ".attn.c_proj", hidden, hidden);
    list.add_layer_norm(block + ".ln_2", hidden);
    list.add_linear(block + ".mlp.c_fc", hidden, inner);
    list.add_linear(block + ".mlp.c_proj", inner, hidden);
  }
  list.add_layer_norm("ln_f", hidden);
  return list.tensors;
}

/// Llama, Mistral and Qwen 2 differ in their biases alone.
std::vector<ModelTensor> llama_tensors(const Sizes& size, bool qkv_bias, bool output_bias) {
  auto hidden = size("hidden_size"), inner = size("intermediate_size"), heads = size("num_attention_heads");
  auto head = size("head_dim", heads == 0 ? 0 : hidden / heads), key_heads = size("num_key_value_heads", heads);
  bool mlp_bias = size.is_on("mlp_bias", false);
  TensorList list;
  list.add("embed_tokens.weight", size("vocab_size") * hidden);
  for (uint64_t i = 0; i < size.layers("num_hidden_layers"); ++i) {
    auto layer = "layers." + std::to_string(i);
    list.add_linear(layer + ".self_attn.q_proj", hidden, heads * head, qkv_bias);
    list.add_linear(layer + ".self_attn.k_proj", hidden, key_heads * head, qkv_bias);
    list.add_linear(layer + ".self_attn.v_proj", hidden, key_heads * head, qkv_bias);
    list.add_linear(layer + ".self_attn.o_proj", heads * head, hidden, output_bias);
    list.add_linear(layer + ".mlp.gate_proj", hidden, inner, mlp_bias);
    list.add_linear(layer + ".mlp.up_proj", hidden, inner, mlp_bias);
    list.add_linear(layer + ".mlp.down_proj", inner, hidden, mlp_bias);
    list.add(layer + ".input_layernorm.weight", hidden);
    list.add(layer + ".post_attention_layernorm.weight", hidden);
  }
  list.add("norm.weight", hidden);
  list.add("rotary_emb.inv_freq", head / 2);
  list.add("rotary_emb.original_inv_freq", head / 2);
  return list.tensors;
}

/// How a family is described.
struct Family {
  ModelBlocks blocks;
  std::function<std::vector<ModelTensor>(const Sizes&)> tensors = nullptr;  // none: only known from its weights
};

const std::map<std::string, Family>& families() {
  static const ModelBlocks kBertBlocks{.list = "layer", .embeddings = true}, kLayers{.list = "layers"};
  auto llama = [](const Sizes& size) {
    bool bias = size.is_on("attention_bias", false);
    return llama_tensors(size, bias, bias);
  };
  auto mistral = [](const Sizes& size) { return llama_tensors(size, false, false); };
  auto qwen2 = [](const Sizes& size) { return llama_tensors(size, true, false); };
  static const std::map<std::string, Family> kAll = {
      {"bert", {kBertBlocks, bert_tensors}},
      {"camembert", {kBertBlocks, bert_tensors}},
      {"roberta", {kBertBlocks, bert_tensors}},
      {"xlm-roberta", {kBertBlocks, bert_tensors}},
      {"distilbert", {{}, distilbert_tensors}},
      {"gpt2", {{.list = "h"}, gpt2_tensors}},
      {"llama", {kLayers, llama}},
      {"mistral", {kLayers, mistral}},
      {"qwen2", {kLayers, qwen2}},
      {"qwen3", {kLayers}},
      {"gemma", {kLayers}},
      {"phi", {kLayers}},
      {"opt", {kLayers}},
      {"gpt_neox", {kLayers}},
      {"bart", {kLayers}},
      {"t5", {{.list = "block"}}},
      {"vit", {kBertBlocks}},
  };
  return kAll;
}

std::string family_of(const nlohmann::json& config, const std::string& source) {
  auto found = config.find("model_type");
  if (found == config.end() || found->is_null()) return "";
  if (!found->is_string()) fail(source, ": model_type is ", found->dump(), "; it has to be a word such as \"bert\"");
  return found->get<std::string>();
}

}  // namespace

ModelDescription describe_family(const nlohmann::json& config, const std::string& source) {
  auto type = family_of(config, source);
  auto found = families().find(type);
  if (found == families().end() || !found->second.tensors) {
    std::vector<std::string> known;
    for (const auto& [name, family] : families()) {
      if (family.tensors) known.push_back(name);
    }
    fail(source, ": model_type is '", type, "'; the sizes of ", listed(known),
         " are known from their configuration, those of others from their safetensors files");
  }
  return {found->second.tensors(Sizes(config, source)), found->second.blocks};
}

ModelBlocks blocks_of_family(const nlohmann::json& config, const std::string& source) {
  auto found = families().find(family_of(config, source));
  return found == families().end() ? ModelBlocks{} : found->second.blocks;
}

}  // namespace accelerate::cli
