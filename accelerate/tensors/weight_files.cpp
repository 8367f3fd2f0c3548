#include "accelerate/tensors/weight_files.h"

#include <map>
#include <set>

#include "accelerate/base/error.h"
#include "accelerate/formats/shard_index.h"
#include "accelerate/tensors/safetensors.h"

namespace accelerate::tensors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = ".index.json";

StoredTensors open_state_dict(const fs::path& path, const OpenTorchFileOptions& options) {
  using formats::ValueKind;
  const auto value = open_torch_file(path, options);
  if (value.kind() != ValueKind::Dict && value.kind() != ValueKind::OrderedDict) {
    fail(path.string(), ": holds a ", python_name_of(value.kind()), ", not the weights of a model by their names");
  }
  StoredTensors tensors;
  for (const auto& [key, entry] : value.entries()) {
    if (key.kind() != ValueKind::Text || entry.kind() != ValueKind::Tensor) {
      fail(path.string(), ": is not the weights of a model: a ", python_name_of(entry.kind()), " is among its values");
    }
    tensors.emplace_back(key.text(), entry.tensor());
  }
  return tensors;
}

/// The file in a directory that has the weights, or says where they are.
fs::path file_in(const fs::path& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    auto file = directory / name, index = directory / (name + std::string(kIndex));
    if (fs::exists(file)) return file;
    if (fs::exists(index)) return index;
  }
  fail(directory.string(),
       ": has no weights: neither model.safetensors nor pytorch_model.bin, and no index of one of them");
}

StoredTensors open_file(const fs::path& path, const OpenTorchFileOptions& options) {
  return path.extension() == ".bin" ? open_state_dict(path, options) : open_safetensors(path);
}

/// The tensors of one file of an index, compared with what that says of it.
StoredTensors open_shard(const formats::IndexedShard& shard, const OpenTorchFileOptions& options) {
  auto tensors = open_file(shard.path, options);
  std::set<std::string> held;
  for (const auto& [name, tensor] : tensors) held.insert(name);
  formats::check_shard(shard, held);
  return tensors;
}

StoredTensors open_index(const fs::path& path, const OpenTorchFileOptions& options) {
  const bool is_of_torch_files = path.filename().string().ends_with(".bin" + std::string(kIndex));
  StoredTensors all;
  std::map<std::string, fs::path> homes;
  for (const auto& shard : formats::shards_of_index(path, is_of_torch_files ? ".bin" : ".safetensors")) {
    for (auto& [name, tensor] : open_shard(shard, options)) {
      const auto [home, is_new] = homes.emplace(name, shard.path);
      if (!is_new) fail(shard.path.string(), ": holds ", name, ", and so does ", home->second.string());
      all.emplace_back(name, std::move(tensor));
    }
  }
  return all;
}

}  // namespace

StoredTensors open_weights(const fs::path& path, const OpenTorchFileOptions& options) {
  if (fs::is_directory(path)) return open_weights(file_in(path), options);
  return path.extension() == ".json" ? open_index(path, options) : open_file(path, options);
}

}  // namespace accelerate::tensors
