#include "accelerate/data/collate.h"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

namespace accelerate::data {

namespace {

template <class Number>
at::Tensor copied(const std::vector<Number>& numbers) {
  auto tensor = at::empty({static_cast<int64_t>(numbers.size())}, c10::CppTypeToScalarType<Number>::value);
  std::copy(numbers.begin(), numbers.end(), tensor.template mutable_data_ptr<Number>());
  return tensor;
}

}  // namespace

at::Tensor tensor_of(const std::vector<int64_t>& numbers) { return copied(numbers); }
at::Tensor tensor_of(const std::vector<double>& numbers) { return copied(numbers); }
at::Tensor tensor_of(const std::vector<float>& numbers) { return copied(numbers); }
at::Tensor tensor_of(const std::vector<bool>& numbers) { return copied(numbers); }

at::Tensor stack(const std::vector<at::Tensor>& tensors) {
  for (const auto& tensor : tensors) {
    if (tensor.sizes() == tensors.front().sizes()) continue;
    fail("default_collate: one sample has the shape ", tensors.front().sizes(), " and another ", tensor.sizes(),
         "; pad them in a collate function");
  }
  return at::stack(tensors);
}

tensors::Batch Collation<tensors::Batch>::collate(std::vector<tensors::Batch> samples) {
  tensors::Batch batch;
  for (const auto& name : samples.front().names()) {
    std::vector<at::Tensor> tensors;
    for (const auto& sample : samples) tensors.push_back(sample.at(name));
    batch[name] = stack(tensors);
  }
  return batch;
}

}  // namespace accelerate::data
