#include "cli/family_tensors.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

namespace accelerate::cli {

const nlohmann::json* Sizes::find(const std::string& key) const {
  auto found = config_.find(key);
  return found == config_.end() || found->is_null() ? nullptr : &*found;
}

uint64_t Sizes::operator()(const std::string& key, std::optional<uint64_t> preset) const {
  const auto* value = find(key);
  if (!value) {
    if (preset) return *preset;
    fail(source_, ": has no ", key, ", which this family needs");
  }
  if (!value->is_number_unsigned() || *value > 1'000'000'000) {
    fail(source_, ": ", key, " is ", value->dump(), "; it must be a whole number");
  }
  return value->get<uint64_t>();
}

uint64_t Sizes::layers(const std::string& key, std::optional<uint64_t> preset) const {
  const auto count = (*this)(key, preset);
  if (count > 100'000) fail(source_, ": ", key, " is ", count, "; no model has that many layers");
  return count;
}

std::optional<uint64_t> Sizes::if_positive(const std::string& key) const {
  const auto* value = find(key);
  if (!value || (value->is_number_integer() && *value < 1)) return std::nullopt;
  return (*this)(key);
}

bool Sizes::is_on(const std::string& key, bool preset) const {
  const auto* value = find(key);
  if (!value) return preset;
  if (!value->is_boolean()) fail(source_, ": ", key, " is ", value->dump(), "; it must be true or false");
  return value->get<bool>();
}

std::vector<std::string> Sizes::words(const std::string& key) const {
  const auto* value = find(key);
  std::vector<std::string> words;
  if (!value) return words;
  const auto list = value->is_array() ? *value : nlohmann::json::array({*value});
  for (const auto& item : list) {
    if (!item.is_string())
      fail(source_, ": ", key, " is ", value->dump(), "; it must be a string or a list of strings");
    words.emplace_back();
    for (unsigned char letter : item.get<std::string>()) {
      if (letter == '|') {
        words.emplace_back();
      } else if (!std::isspace(letter)) {
        words.back() += static_cast<char>(std::tolower(letter));
      }
    }
  }
  return words;
}

void TensorList::add(const std::string& name, uint64_t elements, uint64_t element_bytes) {
  tensors.push_back({name, elements * element_bytes});
}

void TensorList::add_linear(const std::string& name, uint64_t inputs, uint64_t outputs, bool bias) {
  add(name + ".weight", inputs * outputs);
  if (bias) add(name + ".bias", outputs);
}

void TensorList::add_norm(const std::string& name, uint64_t size, bool bias) {
  add(name + ".weight", size);
  if (bias) add(name + ".bias", size);
}

std::vector<ModelTensor> llama_tensors(const Sizes& size, const LlamaVariant& variant) {
  auto hidden = size("hidden_size"), inner = size("intermediate_size"), heads = size("num_attention_heads");
  auto head = size("head_dim", variant.head_dim.value_or(heads == 0 ? 0 : hidden / heads));
  auto key_heads = size("num_key_value_heads", heads);
  bool mlp_bias = size.is_on("mlp_bias", false);
  TensorList list;
  list.add("embed_tokens.weight", size("vocab_size") * hidden);
  for (uint64_t i = 0; i < size.layers("num_hidden_layers"); ++i) {
    auto layer = "layers." + std::to_string(i);
    list.add_linear(layer + ".self_attn.q_proj", hidden, heads * head, variant.qkv_bias);
    list.add_linear(layer + ".self_attn.k_proj", hidden, key_heads * head, variant.qkv_bias);
    list.add_linear(layer + ".self_attn.v_proj", hidden, key_heads * head, variant.qkv_bias);
    list.add_linear(layer + ".self_attn.o_proj", heads * head, hidden, variant.output_bias);
    if (variant.head_norms) {
      list.add(layer + ".self_attn.q_norm.weight", head);
      list.add(layer + ".self_attn.k_norm.weight", head);
    }
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

std::vector<ModelTensor> gpt2_tensors(const Sizes& size) {
  auto hidden = size("n_embd"), positions = size("n_positions"), inner = size("n_inner", 4 * hidden);
  TensorList list;
  list.add("wte.weight", size("vocab_size") * hidden);
  list.add("wpe.weight", positions * hidden);
  for (uint64_t i = 0; i < size.layers("n_layer"); ++i) {
    auto block = "h." + std::to_string(i);
    list.add_norm(block + ".ln_1", hidden);
    list.add_linear(block + ".attn.c_attn", hidden, 3 * hidden);
    list.add_linear(block + ".attn.c_proj", hidden, hidden);
    list.add_norm(block + ".ln_2", hidden);
    list.add_linear(block + ".mlp.c_fc", hidden, inner);
    list.add_linear(block + ".mlp.c_proj", inner, hidden);
  }
  list.add_norm("ln_f", hidden);
  return list.tensors;
}

}  // namespace accelerate::cli
