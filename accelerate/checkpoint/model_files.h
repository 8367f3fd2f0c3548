#pragma once

// A model alone, without the state of its training: what is handed to others.

#include <filesystem>
#include <string>

#include "accelerate/checkpoint/stored_weights.h"
#include "accelerate/train/model.h"

namespace accelerate::checkpoint {

struct SaveModelOptions {
  std::string max_shard_size = "10GB";  // more goes into several files with an index; also 500MB, 2GiB or a number
  bool safe_serialization = true;       // safetensors, else pytorch_model.bin
};

/// Writes the weights into `directory`, which is made. Files of an earlier save that do not belong to it go away, also
/// those in the other of both formats.
/// Throws Error when it cannot be written.
void save_model_files(const train::StateDict& weights, const std::filesystem::path& directory,
                      const SaveModelOptions& options);

struct LoadCheckpointOptions {
  bool strict = false;  // missing and unexpected names are an Error
};

/// load_checkpoint_in_model() of a module.
IncompatibleKeys load_model_files(const torch::nn::Module& module, const std::filesystem::path& checkpoint,
                                  const LoadCheckpointOptions& options);

/// Fills a model from a file, from the index of several, or from a directory with either: safetensors, or a file of
/// torch.save (.bin, .pt, .pth, .ckpt) with the weights as such or under the key state_dict, model_state_dict or model.
/// The prefixes `module.` of DistributedDataParallel and `_orig_mod.` of torch.compile are removed where all names have
/// them. Numbers are converted to the types of the model. Returns the names that only the model or only the files have,
/// each of which a warning lists; another one says that no name fits and nothing was loaded. Throws Error, and changes
/// nothing, where shapes differ.
template <train::ModuleLike T>
IncompatibleKeys load_checkpoint_in_model(const T& model, const std::filesystem::path& checkpoint,
                                          const LoadCheckpointOptions& options = {}) {
  return load_model_files(*train::module_of(model), checkpoint, options);
}

}  // namespace accelerate::checkpoint

namespace accelerate {
using checkpoint::load_checkpoint_in_model;
using checkpoint::LoadCheckpointOptions;
using checkpoint::SaveModelOptions;
}  // namespace accelerate
