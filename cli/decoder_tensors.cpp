#include "cli/decoder_tensors.h"

namespace accelerate::cli {

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
