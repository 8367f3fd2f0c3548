#pragma once

// The base classes of models: inputs, outputs, loading and saving.

#include <filesystem>
#include <functional>
#include <string>
#include <tuple>

#include "accelerate/tensors/batch.h"
#include "transformers/layers.h"
#include "transformers/pretrained_config.h"

namespace transformers {

/// The inputs of a model. A Batch is converted by the names of its tensors.
struct ModelInputs {
  at::Tensor input_ids;            // [batch, length]
  at::Tensor attention_mask = {};  // [batch, length], 0 for padding; undefined: no padding
  at::Tensor token_type_ids = {};  // [batch, length]; undefined: all 0
  at::Tensor position_ids = {};    // [batch, length]; undefined: assigned by the model
  at::Tensor labels = {};          // undefined: no loss

  /// Throws Error for an unknown tensor name; the message lists the known ones.
  static ModelInputs from(const accelerate::Batch& batch);
};

struct BaseModelOutput {
  at::Tensor last_hidden_state;   // [batch, length, hidden]
  at::Tensor pooler_output = {};  // [batch, hidden]; undefined if the model has no pooler
};
/// The tensors of an output, for code that visits all of them.
inline auto tensor_fields(BaseModelOutput& output) { return std::tie(output.last_hidden_state, output.pooler_output); }

struct SequenceClassifierOutput {
  at::Tensor loss;    // undefined without labels
  at::Tensor logits;  // [batch, labels]
};
/// The tensors of an output, for code that visits all of them.
inline auto tensor_fields(SequenceClassifierOutput& output) { return std::tie(output.loss, output.logits); }

struct CausalLMOutput {
  at::Tensor loss;    // undefined without labels
  at::Tensor logits;  // [batch, length, vocabulary]
};
/// The tensors of an output, for code that visits all of them.
inline auto tensor_fields(CausalLMOutput& output) { return std::tie(output.loss, output.logits); }

struct SaveOptions {
  uint64_t max_shard_size = 50'000'000'000;  // in bytes; a larger model is written as several files with an index
};

/// A model with its configuration. The name given to the constructor is the class's name in Python.
class PretrainedModel : public Block {
 public:
  const PretrainedConfig& config() const { return config_; }
  PretrainedConfig& config() { return config_; }

  /// Whether a weight of a checkpoint that the model does not have is ignored without being reported.
  virtual bool ignores(std::string_view weight) const { return false; }

  /// The model's name for a tied weight that checkpoints may store as `weight`; empty if `weight` is not such a name.
  virtual std::string other_name_of(std::string_view weight) const { return ""; }

  /// The name of the base model within models that have a head.
  const std::string& base_model_prefix() const { return base_model_prefix_; }

  /// Turns activation checkpointing on or off: layers are recomputed in the backward pass, to save memory.
  void gradient_checkpointing_enable(bool on = true);
  bool gradient_checkpointing() const { return gradient_checkpointing_; }

  /// Writes config.json and the weights as safetensors, for from_pretrained of Python or of this library. Creates the
  /// directory.
  void save_pretrained(const std::filesystem::path& directory, SaveOptions options = {}) const;

 protected:
  PretrainedModel(std::string class_name, PretrainedConfig config, std::string base_model_prefix)
      : Block(std::move(class_name)), config_(std::move(config)), base_model_prefix_(std::move(base_model_prefix)) {}

  /// Returns layer(x). It is recomputed in the backward pass if gradient checkpointing is on.
  at::Tensor checkpointed(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& layer) const;

  /// The same for layer(x, shared). `shared` is a tensor with a gradient that all layers use; it may be undefined.
  at::Tensor checkpointed(const at::Tensor& x, const at::Tensor& shared,
                          const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& layer) const;

 private:
  PretrainedConfig config_;
  std::string base_model_prefix_;
  bool gradient_checkpointing_ = false;
};

/// A model without a head.
class BaseModel : public PretrainedModel {
 public:
  BaseModelOutput forward(const accelerate::Batch& batch) { return encode(ModelInputs::from(batch)); }
  BaseModelOutput forward(const ModelInputs& inputs) { return encode(inputs); }

 protected:
  /// `base_model_prefix` is the name of this model within models that have a head, so that their checkpoints can be
  /// loaded too.
  BaseModel(std::string class_name, PretrainedConfig config, std::string base_model_prefix)
      : PretrainedModel(std::move(class_name), std::move(config), std::move(base_model_prefix)) {}

 private:
  virtual BaseModelOutput encode(const ModelInputs& inputs) = 0;
};

/// A model for single-label classification, multi-label classification or regression of texts.
class SequenceClassificationModel : public PretrainedModel {
 public:
  SequenceClassifierOutput forward(const accelerate::Batch& batch) { return forward(ModelInputs::from(batch)); }
  SequenceClassifierOutput forward(const ModelInputs& inputs);

 protected:
  using PretrainedModel::PretrainedModel;

  /// The loss for `problem_type`. A model with another loss overrides it.
  virtual at::Tensor loss(const at::Tensor& logits, const at::Tensor& labels);

 private:
  virtual at::Tensor classify(const ModelInputs& inputs) = 0;
};

/// A causal language model. Labels are the input ids, or -100 for positions that the loss ignores.
class CausalLMModel : public PretrainedModel {
 public:
  CausalLMOutput forward(const accelerate::Batch& batch) { return forward(ModelInputs::from(batch)); }
  CausalLMOutput forward(const ModelInputs& inputs);

 protected:
  using PretrainedModel::PretrainedModel;

 private:
  virtual at::Tensor predict(const ModelInputs& inputs) = 0;
};

/// Throws Error unless all input ids are in the vocabulary and texts are not longer than `max_length` (0: no limit).
void check_inputs(const ModelInputs& inputs, int64_t vocabulary, int64_t max_length);

}  // namespace transformers
