#pragma once

// Weights in files, and how they get into a model.

#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "accelerate/tensors/safetensors.h"
#include "accelerate/tensors/stored_tensor.h"
#include "accelerate/train/state_dict.h"

namespace accelerate::checkpoint {

/// Where the numbers of a tensor are: equal for names of the same ones.
using Extent = std::tuple<const void*, at::ScalarType, std::vector<int64_t>, std::vector<int64_t>>;
Extent extent_of(const at::Tensor& tensor);

/// The tensors by name; one that has several names once, under the first, as Python's Accelerate writes them.
tensors::TensorList without_repeats(const train::StateDict& weights);

/// Writes the tensors to `path`, as safetensors without repeats, or as torch.save does where the name ends with .bin.
void save_weights(const train::StateDict& weights, const std::filesystem::path& path);

/// The bytes of such a file called `name`.
void write_weights(const train::StateDict& weights, const std::filesystem::path& name, const Append& append);

/// The names that one side has and the other lacks.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys = {};     // in the model alone; not those that share memory with a loaded one
  std::vector<std::string> unexpected_keys = {};  // in the files alone
};

/// Weights that were compared with a model.
struct CheckedWeights {
  IncompatibleKeys keys = {};
  std::function<void()> load = {};  // copies what fits into the model
};

/// Compares names and shapes; nothing changes before load() is called. Throws Error that names `source` and lists all
/// tensors of another shape, and with `strict` all missing and unexpected ones.
CheckedWeights check_weights(const train::StateDict& model, const tensors::StoredTensors& stored,
                             const std::filesystem::path& source, bool strict);

}  // namespace accelerate::checkpoint

namespace accelerate {
using checkpoint::IncompatibleKeys;
}
