#pragma once

// What every model is: layers made from a configuration, filled from a checkpoint.

#include <filesystem>
#include <functional>
#include <string>
#include <tuple>

#include "accelerate/tensors/batch.h"
#include "transformers/layers.h"
#include "transformers/pretrained_config.h"

namespace transformers {

/// What a model is called with. A Batch becomes one by the names of its tensors.
struct ModelInputs {
  at::Tensor input_ids;            // [batch, length]
  at::Tensor attention_mask = {};  // [batch, length], 0 for padding; undefined: no padding
  at::Tensor token_type_ids = {};  // [batch, length]; undefined: all 0
  at::Tensor position_ids = {};    // [batch, length]; undefined: counted from the start
  at::Tensor labels = {};          // undefined: no loss

  /// Throws Error for a tensor that no model takes, naming those there are.
  static ModelInputs from(const accelerate::Batch& batch);
};

struct BaseModelOutput {
  at::Tensor last_hidden_state;   // [batch, length, hidden]
  at::Tensor pooler_output = {};  // [batch, hidden]; undefined where the model has no pooler
};
/// The tensors of an output, for what walks through all of them.
inline auto tensor_fields(BaseModelOutput& output) { return std::tie(output.last_hidden_state, output.pooler_output); }

struct SequenceClassifierOutput {
  at::Tensor loss;    // undefined without labels
  at::Tensor logits;  // [batch, labels]
};
/// The tensors of an output, for what walks through all of them.
inline auto tensor_fields(SequenceClassifierOutput& output) { return std::tie(output.loss, output.logits); }

struct CausalLMOutput {
  at::Tensor loss;    // undefined without labels
  at::Tensor logits;  // [batch, length, vocabulary]
};
/// The tensors of an output, for what walks through all of them.
inline auto tensor_fields(CausalLMOutput& output) { return std::tie(output.loss, output.logits); }

struct SaveOptions {
  uint64_t max_shard_size = 50'000'000'000;  // bytes; more go into several files with an index
};

/// A model with its configuration. The name given to the constructor is the class's name in Python.
class PretrainedModel : public Block {
 public:
  const PretrainedConfig& config() const { return config_; }
  PretrainedConfig& config() { return config_; }

  /// Whether a weight of a checkpoint that the model does not have may be left out without a word.
  virtual bool ignores(std::string_view weight) const { return false; }

  /// The weight of the model that `weight` of a checkpoint is another name of; empty when it is none.
  virtual std::string other_name_of(std::string_view weight) const { return ""; }

  /// The name under which models with a head hold the model without it.
  const std::string& base_model_prefix() const { return base_model_prefix_; }

  /// Computes the layers of the encoder again in the backward pass instead of keeping what they computed: less memory
  /// for more time.
  void gradient_checkpointing_enable(bool on = true);
  bool gradient_checkpointing() const { return gradient_checkpointing_; }

  /// Writes config.json and the weights as safetensors, such that Python's from_pretrained takes them. Makes the
  /// directory.
  void save_pretrained(const std::filesystem::path& directory, SaveOptions options = {}) const;

 protected:
  PretrainedModel(std::string class_name, PretrainedConfig config, std::string base_model_prefix)
      : Block(std::move(class_name)), config_(std::move(config)), base_model_prefix_(std::move(base_model_prefix)) {}

  /// layer(x), computed again in the backward pass when gradient checkpointing is on.
  at::Tensor checkpointed(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& layer) const;

  /// The same for layer(x, shared), where `shared` is another tensor with a gradient, used by all layers; it may be
  /// undefined.
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
  /// `base_model_prefix` is what models with a head call this one; weights of their checkpoints then fit here too.
  BaseModel(std::string class_name, PretrainedConfig config, std::string base_model_prefix)
      : PretrainedModel(std::move(class_name), std::move(config), std::move(base_model_prefix)) {}

 private:
  virtual BaseModelOutput encode(const ModelInputs& inputs) = 0;
};

/// A model that gives each text one of several labels, several of them, or numbers.
class SequenceClassificationModel : public PretrainedModel {
 public:
  SequenceClassifierOutput forward(const accelerate::Batch& batch) { return forward(ModelInputs::from(batch)); }
  SequenceClassifierOutput forward(const ModelInputs& inputs);

 protected:
  using PretrainedModel::PretrainedModel;

  /// By `problem_type`; a model with rules of its own overrides it.
  virtual at::Tensor loss(const at::Tensor& logits, const at::Tensor& labels);

 private:
  virtual at::Tensor classify(const ModelInputs& inputs) = 0;
};

/// A model that continues texts. Labels are the input ids themselves, -100 where nothing is to be learnt.
class CausalLMModel : public PretrainedModel {
 public:
  CausalLMOutput forward(const accelerate::Batch& batch) { return forward(ModelInputs::from(batch)); }
  CausalLMOutput forward(const ModelInputs& inputs);

 protected:
  using PretrainedModel::PretrainedModel;

 private:
  virtual at::Tensor predict(const ModelInputs& inputs) = 0;
};

/// The inputs are ids of the vocabulary, no longer than the table of positions (0: any length). Throws Error otherwise.
void check_inputs(const ModelInputs& inputs, int64_t vocabulary, int64_t max_length);

}  // namespace transformers
