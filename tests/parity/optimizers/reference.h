#pragma once

// The inputs that the optimizers' reference was computed from, and floats in the form in which it holds them.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/parity/recorded.h"
#include "tests/support/torch.h"

/// One section of a topic's reference, by value, so that a loop over it keeps it alive.
inline nlohmann::json recorded_section(const std::string& topic, const std::string& section) {
  return accelerate::tests::recorded(topic).at(section);
}

/// The bits of a float tensor as integers.
inline std::vector<int32_t> bits(const torch::Tensor& tensor) {
  const auto integers = tensor.detach().contiguous().view(torch::kInt).flatten();
  return {integers.data_ptr<int32_t>(), integers.data_ptr<int32_t>() + integers.numel()};
}

/// The two parameters that every case of the optimizers' reference starts from. Seeds the generator.
inline std::vector<torch::Tensor> reference_parameters() {
  torch::manual_seed(7);
  std::vector<torch::Tensor> parameters{torch::randn({7, 5}), torch::randn({13})};
  for (auto& parameter : parameters) parameter.set_requires_grad(true);
  return parameters;
}
