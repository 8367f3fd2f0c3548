#pragma once

// The weights of a checkpoint: where they are, and how they get into a model.

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

/// What did not fit when a model was loaded.
struct LoadReport {
  struct Mismatch {
    std::string name;
    std::vector<int64_t> checkpoint, model;  // the shapes
  };
  std::vector<std::string> missing;     // in the model, not in the checkpoint: newly initialised
  std::vector<std::string> unexpected;  // in the checkpoint, not in the model: left out
  std::vector<Mismatch> mismatched;     // of another shape: newly initialised

  bool empty() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }

  /// A table with a line for each, layers of the same name merged.
  std::string table() const;
};

struct LoadOptions {
  std::optional<at::ScalarType> dtype = std::nullopt;  // not given: as config.json says, else as the files have it
  bool ignore_mismatched_sizes = false;                // false: a weight of another shape is an Error
};

/// Fills the model from the files of a directory (accelerate/tensors/files/weight_files.h says which). Names with or
/// without the prefix of the base model fit, and so do the old names of LayerNorm. A missing parameter of a Layer is
/// initialised, in the order of the model, with the draws that Python makes; others, and buffers, keep what their
/// module's constructor gave them.
LoadReport load_weights(PretrainedModel& model, const std::filesystem::path& directory, LoadOptions options);

/// Initialises all weights of a model, in the type that its configuration names, with the draws that Python makes for a
/// model without a checkpoint.
void initialize_weights(PretrainedModel& model);

/// Writes parameters and buffers: model.safetensors; or, when the weights take more than `max_shard_size` bytes,
/// model-00001-of-0000N.safetensors and an index, each file at most that large unless one tensor is larger. Weights
/// files that were there before and are not part of this model go away.
void save_weights(const torch::nn::Module& model, const std::filesystem::path& directory, uint64_t max_shard_size);

}  // namespace transformers
