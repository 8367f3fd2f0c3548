#pragma once

// A tensor of a model with the name it is known by in messages and files.

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
  bool sparse_gradient = false;  // backward gives the rows that it touched, and nothing for the others
};

/// The parameters of a module. Those of Embedding and EmbeddingBag with sparse(true) get sparse gradients.
std::vector<NamedTensor> parameters_of(const torch::nn::Module& module);

/// The buffers of a module.
std::vector<NamedTensor> buffers_of(const torch::nn::Module& module);

/// The tensors in their order, each once: of tied ones the first name stays. Undefined tensors are left out.
std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& tensors);

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::NamedTensor;
}
