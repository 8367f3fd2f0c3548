#pragma once

// The models there are, by the model_type of their configuration.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transformers/pretrained_model.h"

namespace transformers {

/// How to make the models of one type. What a type does not have is left empty.
struct Architecture {
  std::string model_type;
  std::function<std::shared_ptr<BaseModel>(const PretrainedConfig&)> base = {};
  std::function<std::shared_ptr<SequenceClassificationModel>(const PretrainedConfig&)> sequence_classification = {};
  std::function<std::shared_ptr<CausalLMModel>(const PretrainedConfig&)> causal_lm = {};
};

/// Adds a type, so that the Auto classes make its models; one of the same name is replaced. Call it before training
/// starts; it is not meant for several threads at once.
void register_architecture(Architecture architecture);

/// The type's entry; throws Error listing the types there are.
const Architecture& find_architecture(const std::string& model_type);

/// The types there are, in the order of the alphabet.
std::vector<std::string> architecture_names();

}  // namespace transformers
