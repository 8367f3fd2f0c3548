#pragma once

// Converts tensor references in a pickle to tensors, and back.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/formats/pickle/pickle.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::tensors {

/// Returns the type that a pickle calls `dtype`.
at::ScalarType torch_type_of(const std::string& dtype);

/// Returns the bytes of a tensor's storage, or throws.
using ReadStorage = std::function<at::Tensor(const formats::TensorReference& tensor)>;

/// Replaces references by tensors. Reads each storage once.
TorchValue with_tensors(const formats::PickleValue& value, const ReadStorage& read);

/// A value and the storages of its tensors.
struct Detached {
  formats::PickleValue value = {};
  std::vector<at::Tensor> storages = {};  // bytes on the CPU; the key of a storage is its index
};

/// Replaces tensors by references. Throws Error for tensors that are undefined or not dense.
Detached without_tensors(const TorchValue& value);

}  // namespace accelerate::tensors
