#pragma once

// The built-in architectures, one function for each model_type. Each is defined in the file of its model.

#include <memory>

#include "transformers/architectures.h"

namespace transformers::models {

/// A function that makes an `M` from a configuration.
template <class M, class... Arguments>
auto make(const Arguments&... arguments) {
  return [arguments...](const PretrainedConfig& config) { return std::make_shared<M>(config, arguments...); };
}

/// The factory functions of the models with this model_type.
Architecture albert();
Architecture bert();
Architecture camembert();
Architecture deberta_v2();
Architecture distilbert();
Architecture electra();
Architecture gpt2();
Architecture llama();
Architecture mistral();
Architecture modernbert();
Architecture mpnet();
Architecture qwen2();
Architecture qwen3();
Architecture roberta();
Architecture xlm_roberta();

}  // namespace transformers::models
