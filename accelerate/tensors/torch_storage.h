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

/// The bytes of the storage that a tensor lies in, or throws.
using ReadStorage = std::function<at::Tensor(const formats::TensorReference& tensor)>;

/// The value with real tensors. Each storage is read once. Throws Error naming `source` when two tensors disagree about
/// a storage.
TorchValue with_tensors(const formats::PickleValue& value, const std::string& source, const ReadStorage& read);

/// Throws Error naming `source` unless the file has as many bytes for a storage as its pickle says.
void check_storage_bytes(const formats::TensorReference& tensor, uint64_t bytes_in_file, const std::string& source);

/// A value and the storages that its tensors lie in.
struct Detached {
  formats::PickleValue value = {};
  std::vector<at::Tensor> storages = {};  // bytes on the CPU; the key of each is its number
};

/// The value with references in place of tensors. Throws Error for tensors that are not dense.
Detached without_tensors(const TorchValue& value);

}  // namespace accelerate::tensors
