#pragma once

// What the committed references hold, and the inputs they were computed from.

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <torch/torch.h>

/// The reference that Python wrote for one topic of tests/parity.
inline nlohmann::json read_reference(const std::string& topic) {
  return nlohmann::json::parse(std::ifstream(ACCELERATE_SOURCE_DIR "/tests/parity/" + topic + "/reference.json"));
}

/// The bits of a float tensor, as the references store them.
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
