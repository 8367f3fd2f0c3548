#include "accelerate/train/state_dict.h"

namespace accelerate::train {

StateDict state_dict_of(const torch::nn::Module& module) {
  StateDict state;
  // Module by module, parameters before buffers: the order of Python's state_dict.
  for (const auto& part : module.named_modules()) {
    auto prefix = part.key().empty() ? "" : part.key() + ".";
    for (const auto& parameter : part.value()->named_parameters(/*recurse=*/false)) {
      state.insert(prefix + parameter.key(), parameter->detach());
    }
    for (const auto& buffer : part.value()->named_buffers(/*recurse=*/false)) {
      state.insert(prefix + buffer.key(), buffer->detach());
    }
  }
  return state;
}

}  // namespace accelerate::train
