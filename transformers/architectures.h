#pragma once

// The registry of model architectures, by the model_type of their configuration.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transformers/pretrained_model.h"

namespace transformers {

/// The factory functions for the models of one type. A function is empty if the type has no such model.
struct Architecture {
  std::string model_type;
  std::function<std::shared_ptr<BaseModel>(const PretrainedConfig&)> base = {};
  std::function<std::shared_ptr<SequenceClassificationModel>(const PretrainedConfig&)> sequence_classification = {};
  std::function<std::shared_ptr<CausalLMModel>(const PretrainedConfig&)> causal_lm = {};
};

/// Registers a model type, so that the Auto classes can create its models. Replaces an earlier type of the same name.
/// Not thread-safe: call it before training starts.
void register_architecture(Architecture architecture);

/// The entry of `model_type`. Throws Error if it is not registered; the message lists the registered types.
const Architecture& find_architecture(const std::string& model_type);

/// The registered types, sorted by name.
std::vector<std::string> architecture_names();

}  // namespace transformers
