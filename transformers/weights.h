#pragma once

// Loads, initialises and saves the weights of a model.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace transformers {

class PretrainedModel;

/// The differences between a model and the checkpoint that it was loaded from.
struct LoadReport {
  struct Mismatch {
    std::string name;
    std::vector<int64_t> checkpoint, model;  // the shapes
  };
  std::vector<std::string> missing;     // in the model, not in the checkpoint: initialised
  std::vector<std::string> unexpected;  // in the checkpoint, not in the model: ignored
  std::vector<Mismatch> mismatched;     // of another shape: initialised

  bool empty() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }

  /// A table with a line for each weight; equal weights of numbered layers share a line.
  std::string table() const;
};

struct LoadOptions {
  std::optional<at::ScalarType> dtype = std::nullopt;  // nullopt: as in config.json, or as stored
  bool ignore_mismatched_sizes = false;                // false: a weight of another shape is an Error
};

/// Loads the weights from the files of a directory (see accelerate/tensors/files/weight_files.h). Accepts names with or
/// without the prefix of the base model, and the old names of LayerNorm. Missing parameters of a Layer are initialised
/// in the order of the model, with the same random numbers as in Python. Other parameters, and buffers, keep the values
/// from the constructor.
LoadReport load_weights(PretrainedModel& model, const std::filesystem::path& directory, LoadOptions options);

/// Initialises all weights of a model, in the dtype of its configuration, with the same random numbers as Python's
/// from_config.
void initialize_weights(PretrainedModel& model);

/// Writes parameters and buffers: model.safetensors; or, when the weights take more than `max_shard_size` bytes,
/// model-00001-of-0000N.safetensors and an index, each file at most that large unless one tensor is larger. Removes
/// weight files of an earlier save that are not part of this one.
void save_weights(const torch::nn::Module& model, const std::filesystem::path& directory, uint64_t max_shard_size);

}  // namespace transformers
