#pragma once

// Models by the name of their checkpoint.

#include <optional>
#include <string>

#include "transformers/pretrained_model.h"
#include "transformers/weights.h"

namespace transformers {

struct FromPretrainedOptions {
  std::optional<int64_t> num_labels = std::nullopt;        // not given: as in the configuration, 2 without one
  std::optional<std::string> problem_type = std::nullopt;  // regression, single_label_classification, multi_label_...
  std::optional<at::ScalarType> dtype = std::nullopt;      // not given: as in the configuration, else as stored
  bool ignore_mismatched_sizes = false;                    // true: weights of another shape are initialised anew
  std::string revision = "main";                           // of a name in the local Hugging Face cache
  LoadReport* loading_info = nullptr;                      // where to put what did not fit, instead of logging it
};

/// Shared ownership of a model, which is called like it.
template <class M>
class ModelHolder : public torch::nn::ModuleHolder<M> {
 public:
  using torch::nn::ModuleHolder<M>::ModuleHolder;

  /// The same as forward, which libtorch's holders do not find where there are several.
  template <class Inputs>
  auto operator()(const Inputs& inputs) {
    return this->get()->forward(inputs);
  }
};

/// Any model without a head. Called with a Batch or ModelInputs, it gives a BaseModelOutput.
class AutoModel : public ModelHolder<BaseModel> {
 public:
  using ModelHolder<BaseModel>::ModelHolder;

  /// The model in a directory, or of a name in the local Hugging Face cache, in evaluation mode. What the checkpoint
  /// does not have is initialised and reported. Throws Error for what cannot be read or is not known.
  static AutoModel from_pretrained(const std::string& checkpoint, const FromPretrainedOptions& options = {});

  /// A model with new weights, which are those that Python draws with the same seed.
  static AutoModel from_config(const PretrainedConfig& config);
};

/// Any model that classifies texts. Called with a Batch or ModelInputs, it gives a SequenceClassifierOutput.
class AutoModelForSequenceClassification : public ModelHolder<SequenceClassificationModel> {
 public:
  using ModelHolder<SequenceClassificationModel>::ModelHolder;

  /// As AutoModel's; of a checkpoint without a head, the head is initialised.
  static AutoModelForSequenceClassification from_pretrained(const std::string& checkpoint,
                                                            const FromPretrainedOptions& options = {});
  /// A model with new weights.
  static AutoModelForSequenceClassification from_config(const PretrainedConfig& config);
};

/// Any model that continues texts. Called with a Batch or ModelInputs, it gives a CausalLMOutput.
class AutoModelForCausalLM : public ModelHolder<CausalLMModel> {
 public:
  using ModelHolder<CausalLMModel>::ModelHolder;

  /// As AutoModel's.
  static AutoModelForCausalLM from_pretrained(const std::string& checkpoint, const FromPretrainedOptions& options = {});

  /// A model with new weights.
  static AutoModelForCausalLM from_config(const PretrainedConfig& config);
};

}  // namespace transformers
