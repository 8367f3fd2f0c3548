#include "accelerate/checkpoint/model_files.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/byte_size.h"
#include "accelerate/base/error.h"
#include "accelerate/base/listed.h"
#include "accelerate/base/log.h"
#include "accelerate/formats/model_file_names.h"
#include "accelerate/tensors/save_shards.h"
#include "accelerate/tensors/weight_files.h"

namespace accelerate::checkpoint {

namespace fs = std::filesystem;

namespace {

tensors::TensorList all_of(const train::StateDict& weights) {
  tensors::TensorList list;
  for (const auto& item : weights) list.emplace_back(item.key(), item.value());
  return list;
}

/// The prefixes that DistributedDataParallel and torch.compile give to the names of what they wrap.
constexpr std::string_view kWrapperPrefixes[] = {"module.", "_orig_mod."};

/// Takes the prefix of a wrapper from the names, where all stored names have it and none of the model's.
void remove_wrapper_prefixes(tensors::StoredTensors& stored, const train::StateDict& model) {
  for (bool changed = true; changed && !stored.empty();) {
    changed = false;
    for (auto prefix : kWrapperPrefixes) {
      const bool all_have_it =
          std::all_of(stored.begin(), stored.end(), [&](const auto& item) { return item.first.starts_with(prefix); });
      const bool model_has_it =
          std::any_of(model.begin(), model.end(), [&](const auto& item) { return item.key().starts_with(prefix); });
      if (!all_have_it || model_has_it) continue;
      for (auto& [name, tensor] : stored) name.erase(0, prefix.size());
      changed = true;
    }
  }
}

}  // namespace

void save_model_files(const train::StateDict& weights, const fs::path& directory, const SaveModelOptions& options) {
  if (fs::exists(directory) && !fs::is_directory(directory)) {
    fail(directory.string(), ": this is a file; a model is saved to a directory");
  }
  tensors::SaveShardsOptions shards{.max_shard_bytes = parse_bytes(options.max_shard_size)};
  formats::ModelFileNames other_names = {.name = "pytorch_model", .extension = ".bin"};
  if (!options.safe_serialization) {
    std::swap(shards.names, other_names);
    shards.write = [](const tensors::TensorList& tensors, const std::string& file, const Append& append) {
      train::StateDict part;
      for (const auto& [name, tensor] : tensors) part.insert(name, tensor);
      write_weights(part, file, append);
    };
  }
  make_directories(directory);
  tensors::save_shards(options.safe_serialization ? without_repeats(weights) : all_of(weights), directory, shards);
  // Whoever loads the directory would otherwise get the safetensors of an earlier model.
  formats::remove_other_model_files(directory, other_names, /*kept=*/{});
}

IncompatibleKeys load_model_files(const torch::nn::Module& module, const fs::path& checkpoint,
                                  const LoadCheckpointOptions& options) {
  const auto model = train::state_dict_of(module);
  auto stored = tensors::open_weights(checkpoint);
  remove_wrapper_prefixes(stored, model);
  auto checked = check_weights(model, stored, checkpoint, options.strict);
  if (const auto& names = checked.keys.unexpected_keys; !names.empty()) {
    get_logger("accelerate.checkpoint")
        .warning(checkpoint.string() + ": these weights are not part of the model and are left out: " + listed(names));
  }
  checked.load();
  return checked.keys;
}

}  // namespace accelerate::checkpoint
