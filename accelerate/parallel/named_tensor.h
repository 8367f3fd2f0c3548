#pragma once

// A tensor of a model with the name it is known by in messages and files.

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::parallel {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// The tensors in their order, each once: of tied ones the first name stays. Undefined tensors are left out.
std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& tensors);

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::NamedTensor;
}
