#include "accelerate/parallel/named_tensor.h"

#include <torch/nn/modules/embedding.h>

#include "accelerate/tensors/distinct_tensors.h"

namespace accelerate::parallel {

namespace {

std::vector<NamedTensor> list_of(const torch::OrderedDict<std::string, at::Tensor>& tensors) {
  std::vector<NamedTensor> list;
  for (const auto& item : tensors) list.push_back({item.key(), item.value()});
  return list;
}

/// The weight of an embedding with sparse gradients, or an undefined tensor.
at::Tensor sparse_table(const torch::nn::Module& module) {
  if (const auto* embedding = module.as<torch::nn::Embedding>()) {
    return embedding->options.sparse() ? embedding->weight : at::Tensor();
  }
  const auto* bag = module.as<torch::nn::EmbeddingBag>();
  return bag && bag->options.sparse() ? bag->weight : at::Tensor();
}

}  // namespace

std::vector<NamedTensor> parameters_of(const torch::nn::Module& module) {
  auto parameters = list_of(module.named_parameters());
  module.apply([&](const torch::nn::Module& part) {
    auto table = sparse_table(part);
    for (auto& parameter : parameters) parameter.sparse_gradient |= parameter.tensor.is_same(table);
  });
  return parameters;
}

std::vector<NamedTensor> buffers_of(const torch::nn::Module& module) { return list_of(module.named_buffers()); }

std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& named) {
  auto result = tensors::distinct_tensors(named, &NamedTensor::tensor);
  std::erase_if(result, [](const NamedTensor& each) { return !each.tensor.defined(); });
  return result;
}

}  // namespace accelerate::parallel
