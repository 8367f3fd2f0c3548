#pragma once

// Activation functions, by the names that config.json uses.

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace transformers {

using Activation = at::Tensor (*)(const at::Tensor&);

/// The activation function `name`: gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, relu, silu, swish, tanh or
/// sigmoid. Throws Error for an unknown name; the message lists the known ones.
Activation activation(const std::string& name);

/// All names that activation() accepts.
std::vector<std::string> activation_names();

}  // namespace transformers
