#pragma once

// Parameters and buffers of a model by name.

#include <string>

#include <torch/nn/module.h>
#include <torch/ordered_dict.h>

namespace accelerate::train {

using StateDict = torch::OrderedDict<std::string, at::Tensor>;

/// In the order of Python's state_dict. The tensors share memory with the model.
StateDict state_dict_of(const torch::nn::Module& module);

}  // namespace accelerate::train

namespace accelerate {
using train::StateDict;
}
