#pragma once

// The functions between linear layers, by the names that config.json uses.

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace transformers {

using Activation = at::Tensor (*)(const at::Tensor&);

/// gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, relu, silu, swish, tanh, sigmoid. Throws Error listing
/// these for another name.
Activation activation(const std::string& name);

/// These names.
std::vector<std::string> activation_names();

}  // namespace transformers
