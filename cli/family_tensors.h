#pragma once

// The tensors of model families, named and sized as Transformers' AutoModel makes them.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/model_tensors.h"

namespace accelerate::cli {

/// The sizes of a configuration, checked when they are read. Every function throws Error naming the file and the key
/// for a value that it cannot use. A key that is null counts as absent.
class Sizes {
 public:
  /// `config` has to live as long as this.
  Sizes(const nlohmann::json& config, std::string source) : config_(config), source_(std::move(source)) {}

  /// The size that `key` has. Throws Error when there is none and no `preset`.
  uint64_t operator()(const std::string& key, std::optional<uint64_t> preset = std::nullopt) const;

  /// A number of layers, each of which becomes several names.
  uint64_t layers(const std::string& key, std::optional<uint64_t> preset = std::nullopt) const;

  /// The size that `key` has; nothing when it is absent or less than 1, which stands for absence.
  std::optional<uint64_t> if_positive(const std::string& key) const;

  /// Whether `key` is true.
  bool is_on(const std::string& key, bool preset) const;

  /// The words of a list, or of a text that separates them by "|", in lower case.
  std::vector<std::string> words(const std::string& key) const;

 private:
  const nlohmann::json* find(const std::string& key) const;

  const nlohmann::json& config_;
  std::string source_;
};

/// A list of tensors that grows by modules. Elements are float32 unless said otherwise.
class TensorList {
 public:
  void add(const std::string& name, uint64_t elements, uint64_t element_bytes = 4);
  void add_linear(const std::string& name, uint64_t inputs, uint64_t outputs, bool bias = true);
  void add_norm(const std::string& name, uint64_t size, bool bias = true);

  std::vector<ModelTensor> tensors;
};

/// BERT, RoBERTa, CamemBERT and XLM-RoBERTa.
std::vector<ModelTensor> bert_tensors(const Sizes& size);

/// ALBERT, whose layers share their weights.
std::vector<ModelTensor> albert_tensors(const Sizes& size);

/// DeBERTa V2 and V3.
std::vector<ModelTensor> deberta_v2_tensors(const Sizes& size);

/// DistilBERT.
std::vector<ModelTensor> distilbert_tensors(const Sizes& size);

/// ELECTRA.
std::vector<ModelTensor> electra_tensors(const Sizes& size);

/// ModernBERT.
std::vector<ModelTensor> modernbert_tensors(const Sizes& size);

/// MPNet.
std::vector<ModelTensor> mpnet_tensors(const Sizes& size);

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
