#include "accelerate/checkpoint/model_files.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/byte_size.h"
#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/text.h"
#include "accelerate/formats/model_files.h"
#include "accelerate/tensors/files/weight_files.h"
#include "accelerate/tensors/save_shards.h"

namespace accelerate::checkpoint {

namespace fs = std::filesystem;

namespace {

tensors::TensorList all_of(const train::StateDict& weights) {
  tensors::TensorList list;
  for (const auto& item : weights) list.emplace_back(item.key(), item.value());
  return list;
}

/// The prefixes that DistributedDataParallel and torch.compile add to names.
constexpr std::string_view kWrapperPrefixes[] = {"module.", "_orig_mod."};

/// Removes wrapper prefixes if all stored names have them and no name of the model does.
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

/// The first few names, enough to see how model and file differ.
std::string first_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  if (names.empty()) return "no weights";
  const auto shown = std::min(names.size(), kShown);
  return listed(std::vector<std::string>(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown))) +
         (shown < names.size() ? " and " + std::to_string(names.size() - shown) + " more" : "");
}

void warn_of_names(const IncompatibleKeys& keys, const train::StateDict& model, const fs::path& checkpoint) {
  const auto warn = [&](const std::string& text) {
    get_logger("accelerate.checkpoint").warning(checkpoint.string() + ": " + text);
  };
  if (!model.is_empty() && keys.missing_keys.size() == model.size()) {
    return warn("nothing was loaded: the file has none of the model's names. The model has " +
                first_of(keys.missing_keys) + "; the file has " + first_of(keys.unexpected_keys));
  }
  if (!keys.missing_keys.empty()) {
    warn("these weights of the model are not in the file and keep their values: " + listed(keys.missing_keys));
  }
  if (!keys.unexpected_keys.empty()) {
    warn("these weights are not part of the model and are ignored: " + listed(keys.unexpected_keys));
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
  tensors::save_shards(options.safe_serialization ? deduplicated(weights) : all_of(weights), directory, shards);
  // Otherwise loading the directory could find an earlier model in the other format.
  formats::remove_other_model_files(directory, other_names, /*kept=*/{});
}

IncompatibleKeys load_model_files(const torch::nn::Module& module, const fs::path& checkpoint,
                                  const LoadCheckpointOptions& options) {
  const auto model = train::state_dict_of(module);
  auto stored = tensors::open_weights(checkpoint);
  remove_wrapper_prefixes(stored, model);
  auto checked = check_weights(model, stored, checkpoint, options.strict);
  warn_of_names(checked.keys, model, checkpoint);
  checked.load();
  return checked.keys;
}

}  // namespace accelerate::checkpoint
