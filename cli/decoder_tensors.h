#pragma once

// The tensors of decoders, named and sized as Transformers' AutoModel makes them.

#include "cli/family_sizes.h"

namespace accelerate::cli {

/// Where models that are built like Llama differ.
struct LlamaVariant {
  bool qkv_bias = false;                  // of query, key and value
  bool output_bias = false;               // of the projection after attention
  bool head_norms = false;                // each head of query and key is normalized
  std::optional<uint64_t> head_dim = {};  // without the key head_dim; none: the hidden size, divided by the heads
};

/// Llama, Mistral, Qwen 2 and Qwen 3.
std::vector<ModelTensor> llama_tensors(const Sizes& size, const LlamaVariant& variant);

/// GPT-2.
std::vector<ModelTensor> gpt2_tensors(const Sizes& size);

}  // namespace accelerate::cli
