#pragma once

// From what a pickle says about tensors to tensors, and back.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/formats/pickle.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::tensors {

/// The type that a pickle calls `dtype`.
at::ScalarType torch_type_of(const std::string& dtype);

/// The bytes of the storage that a tensor lies in, or throws.
using ReadStorage = std::function<at::Tensor(const formats::TensorReference& tensor)>;

/// The value with real tensors. Each storage is read once.
TorchValue with_tensors(const formats::PickleValue& value, const ReadStorage& read);

/// A value and the storages that its tensors lie in.
struct Detached {
  formats::PickleValue value = {};
  std::vector<at::Tensor> storages = {};  // bytes on the CPU; the key of each is its number
};

/// The value with references in place of tensors. Throws Error for tensors that are not dense.
Detached without_tensors(const TorchValue& value);

}  // namespace accelerate::tensors
