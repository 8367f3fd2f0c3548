#pragma once

// The Auto classes: create the right model for a checkpoint or a configuration.

#include <optional>
#include <string>

#include "transformers/pretrained_model.h"
#include "transformers/weights.h"

namespace transformers {

struct FromPretrainedOptions {
  std::optional<int64_t> num_labels = std::nullopt;        // nullopt: as in the configuration, or 2
  std::optional<std::string> problem_type = std::nullopt;  // regression, single_label_classification, multi_label_...
  std::optional<at::ScalarType> dtype = std::nullopt;      // nullopt: as in the configuration, or as stored
  bool ignore_mismatched_sizes = false;                    // true: weights of another shape are initialised
  std::string revision = "main";                           // of a repository in the Hugging Face cache
  LoadReport* loading_info = nullptr;                      // receives the report; nullptr: it is logged
};

/// Shared ownership of a model. Calling the holder calls the model.
template <class M>
class ModelHolder : public torch::nn::ModuleHolder<M> {
 public:
  using torch::nn::ModuleHolder<M>::ModuleHolder;

  /// Calls forward. libtorch's ModuleHolder cannot resolve an overloaded forward.
  template <class Inputs>
  auto operator()(const Inputs& inputs) {
    return this->get()->forward(inputs);
  }
};

/// Any model without a head. Call it with a Batch or ModelInputs; it returns a BaseModelOutput.
class AutoModel : public ModelHolder<BaseModel> {
 public:
  using ModelHolder<BaseModel>::ModelHolder;

  /// Loads the model from a directory, or from the repository of this name in the local Hugging Face cache. The model
  /// is in evaluation mode. Weights that the checkpoint does not have are initialised and reported. Throws Error if a
  /// file cannot be read or the model type is unknown.
  static AutoModel from_pretrained(const std::string& checkpoint, const FromPretrainedOptions& options = {});

  /// A model with randomly initialised weights. Python draws the same weights with the same seed.
  static AutoModel from_config(const PretrainedConfig& config);
};

/// Any model that classifies texts. Call it with a Batch or ModelInputs; it returns a SequenceClassifierOutput.
class AutoModelForSequenceClassification : public ModelHolder<SequenceClassificationModel> {
 public:
  using ModelHolder<SequenceClassificationModel>::ModelHolder;

  /// As AutoModel::from_pretrained. If the checkpoint has no head, the head is initialised.
  static AutoModelForSequenceClassification from_pretrained(const std::string& checkpoint,
                                                            const FromPretrainedOptions& options = {});
  /// A model with randomly initialised weights.
  static AutoModelForSequenceClassification from_config(const PretrainedConfig& config);
};

/// Any causal language model. Call it with a Batch or ModelInputs; it returns a CausalLMOutput.
class AutoModelForCausalLM : public ModelHolder<CausalLMModel> {
 public:
  using ModelHolder<CausalLMModel>::ModelHolder;

  /// As AutoModel::from_pretrained.
  static AutoModelForCausalLM from_pretrained(const std::string& checkpoint, const FromPretrainedOptions& options = {});

  /// A model with randomly initialised weights.
  static AutoModelForCausalLM from_config(const PretrainedConfig& config);
};

}  // namespace transformers
