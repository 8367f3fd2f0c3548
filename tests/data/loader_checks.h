#pragma once

// What tests of loaders share: references, data sets of numbers, and walks that note what they saw.

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "accelerate/data/prepared_loader.h"
#include "accelerate/data/tensor_dataset.h"
#include "tests/support/torch.h"

namespace accelerate::tests {

using Batches = std::vector<std::vector<int64_t>>;

inline nlohmann::json parity_reference(const std::string& topic) {
  return nlohmann::json::parse(std::ifstream(ACCELERATE_SOURCE_DIR "/tests/parity/" + topic + "/reference.json"));
}

/// 0, 1, 2, ... as a data set.
inline auto numbers(int64_t count) { return data::TensorDataset(torch::arange(count)); }

/// The same as an iterable data set, which may know its size.
struct NumberStream {
  struct Iterator {
    using value_type = int64_t;
    using difference_type = std::ptrdiff_t;
    int64_t number = 0;
    int64_t operator*() const { return number; }
    Iterator& operator++() {
      ++number;
      return *this;
    }
    void operator++(int) { ++number; }
    bool operator==(const Iterator&) const = default;
  };

  int64_t count = 0;
  Iterator begin() const { return {0}; }
  Iterator end() const { return {count}; }
};

struct SizedNumberStream : NumberStream {
  int64_t size() const { return count; }
};

inline std::vector<int64_t> to_vector(const torch::Tensor& tensor) {
  auto plain = tensor.to(torch::kLong).contiguous();
  return {plain.const_data_ptr<int64_t>(), plain.const_data_ptr<int64_t>() + plain.numel()};
}

/// The batches of one walk over a loader of numbers.
template <class Loader>
Batches walk(Loader&& loader) {
  Batches batches;
  for (auto& batch : loader) batches.push_back(to_vector(batch));
  return batches;
}

template <class Loader>
std::vector<Batches> walks(Loader&& loader, int count) {
  std::vector<Batches> epochs;
  for (int i = 0; i < count; ++i) epochs.push_back(walk(loader));
  return epochs;
}

}  // namespace accelerate::tests
