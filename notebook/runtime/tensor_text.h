#pragma once

// A tensor as text: what it is, then its values in columns.

#include <string>

#include <ATen/core/Tensor.h>

namespace accelerate::notebook {

/// "float32 [2, 3]" and the values below, as rows within brackets. Of a tensor with more than 1000 values only the
/// first and last three of each dimension are shown.
std::string tensor_text(const at::Tensor& tensor);

}  // namespace accelerate::notebook
