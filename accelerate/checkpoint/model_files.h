#pragma once

// Saves and loads the weights of a model alone, without training state.

#include <filesystem>
#include <string>
#include <vector>

#include "accelerate/train/model.h"
#include "accelerate/train/state_dict.h"

namespace accelerate::checkpoint {

struct SaveModelOptions {
  std::string max_shard_size = "10GB";  // larger models are split, with an index; also 500MB, 2GiB or a number
  bool safe_serialization = true;       // safetensors; false: pytorch_model.bin
};

/// Writes the weights into `directory` and creates it if needed. Then removes leftover model files of an earlier save,
/// in either format. Throws Error if it cannot be written.
void save_model_files(const train::StateDict& weights, const std::filesystem::path& directory,
                      const SaveModelOptions& options);

struct LoadCheckpointOptions {
  bool strict = false;  // throw Error for missing and unexpected names
};

/// The names that only the model or only the files have.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys = {};     // only in the model; without those tied to a loaded one
  std::vector<std::string> unexpected_keys = {};  // only in the files
};

/// load_checkpoint_in_model() for a module.
IncompatibleKeys load_model_files(const torch::nn::Module& module, const std::filesystem::path& checkpoint,
                                  const LoadCheckpointOptions& options);

/// Loads weights into a model from a file, an index of shards, or a directory with either. Files are safetensors, or
/// files of torch.save (.bin, .pt, .pth, .ckpt) with a dict of weights, at the top or under the key state_dict,
/// model_state_dict or model. The prefixes `module.` of DistributedDataParallel and `_orig_mod.` of torch.compile are
/// removed if all stored names have them and no name of the model does. Values are converted to the types of the model.
/// Returns the names that only the model or only the files have, and logs them as warnings; a single warning says if no
/// name matched. Throws Error and changes nothing if shapes differ.
template <train::ModuleLike T>
IncompatibleKeys load_checkpoint_in_model(const T& model, const std::filesystem::path& checkpoint,
                                          const LoadCheckpointOptions& options = {}) {
  return load_model_files(*train::module_of(model), checkpoint, options);
}

}  // namespace accelerate::checkpoint

namespace accelerate {
using checkpoint::IncompatibleKeys;
using checkpoint::load_checkpoint_in_model;
using checkpoint::LoadCheckpointOptions;
using checkpoint::SaveModelOptions;
}  // namespace accelerate
