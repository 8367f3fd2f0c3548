#pragma once

// Writes weights to files, and checks and loads them into a model.

#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "accelerate/checkpoint/model_files.h"
#include "accelerate/tensors/safetensors.h"
#include "accelerate/tensors/stored_tensor.h"
#include "accelerate/train/state_dict.h"

namespace accelerate::checkpoint {

/// The memory of a tensor: address, type, sizes and strides. Equal for tied tensors.
using TensorMemoryKey = std::tuple<const void*, at::ScalarType, std::vector<int64_t>, std::vector<int64_t>>;
TensorMemoryKey memory_key_of(const at::Tensor& tensor);

/// Returns the tensors by name. A tied tensor appears once, under its first name, as Python's Accelerate writes it.
tensors::TensorList deduplicated(const train::StateDict& weights);

/// Writes the tensors to `path`: as safetensors without repeats, or in the format of torch.save if the name ends with
/// .bin.
void save_weights(const train::StateDict& weights, const std::filesystem::path& path);

/// Appends the bytes of such a file called `name`.
void write_weights(const train::StateDict& weights, const std::filesystem::path& name, const Append& append);

/// Weights that were checked against a model.
struct CheckedWeights {
  IncompatibleKeys keys = {};
  std::function<void()> load = {};  // copies the weights with matching names into the model
};

/// Compares names and shapes; nothing changes before load() is called. Throws Error naming `source` with a list of all
/// tensors of another shape and, with `strict`, of all missing and unexpected names.
CheckedWeights check_weights(const train::StateDict& model, const tensors::StoredTensors& stored,
                             const std::filesystem::path& source, bool strict);

}  // namespace accelerate::checkpoint
