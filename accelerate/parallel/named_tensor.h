#pragma once

// A tensor of a model with its name in messages and files.

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace accelerate::parallel {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
  bool sparse_gradient = false;  // backward returns only the rows that were used
};

/// The parameters of a module. Those of Embedding and EmbeddingBag with sparse(true) get sparse gradients.
std::vector<NamedTensor> parameters_of(const torch::nn::Module& module);

/// The buffers of a module.
std::vector<NamedTensor> buffers_of(const torch::nn::Module& module);

/// The tensors in order, without duplicates: a tied tensor keeps its first name. Undefined tensors are left out.
std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& named);

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::NamedTensor;
}
