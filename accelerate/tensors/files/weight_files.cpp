#include "accelerate/tensors/files/weight_files.h"

#include <algorithm>
#include <map>
#include <set>

#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/formats/model_files.h"
#include "accelerate/tensors/safetensors.h"

namespace accelerate::tensors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = ".index.json";

using formats::ValueKind;

bool is_dict(const StoredValue& value) {
  return value.kind() == ValueKind::Dict || value.kind() == ValueKind::OrderedDict;
}

/// Returns the first entry that is not a named tensor, or null.
const StoredValue::Entries::value_type* first_other(const StoredValue& dict) {
  for (const auto& entry : dict.entries()) {
    if (entry.first.kind() != ValueKind::Text || entry.second.kind() != ValueKind::Tensor) return &entry;
  }
  return nullptr;
}

/// Returns the dict of weights in a training checkpoint: the value itself, or the one under a usual key.
const StoredValue& weights_in(const StoredValue& value, const fs::path& path) {
  if (!is_dict(value)) {
    fail(path.string(), ": contains a ", python_name_of(value.kind()), ", not a dict of weights");
  }
  const auto* other = first_other(value);
  if (!other) return value;
  for (const char* key : {"state_dict", "model_state_dict", "model"}) {
    if (const auto* nested = value.find(key); nested && is_dict(*nested)) return weights_in(*nested, path);
  }
  fail(path.string(), ": does not contain the weights of a model: a ", python_name_of(other->second.kind()),
       " is among its values, and there is no dict of weights under 'state_dict', 'model_state_dict' or 'model'");
}

StoredTensors open_state_dict(const fs::path& path, const OpenTorchFileOptions& options) {
  const auto value = open_torch_file(path, options);
  StoredTensors tensors;
  for (const auto& [key, entry] : weights_in(value, path).entries()) tensors.emplace_back(key.text(), entry.tensor());
  return tensors;
}

/// Whether torch.save wrote a file, by its first bytes: those of a zip archive or of a pickle. Safetensors files begin
/// with a header length and a brace; the brace is checked first, because the length can be any bytes. Damaged files are
/// classified by extension, so that the error message fits.
bool is_torch_file(const fs::path& path) {
  const auto file = File::open(path);
  std::string start(std::min<uint64_t>(file.bytes(), 9), '\0');
  file.read_at(0, start.data(), start.size());
  if (start.size() == 9 && start[8] == '{') return false;
  if (start.starts_with("PK") || start.starts_with('\x80')) return true;
  for (const char* extension : {".bin", ".pt", ".pth", ".ckpt"}) {
    if (path.extension() == extension) return true;
  }
  return false;
}

/// The file in a directory with the weights or their index.
fs::path file_in(const fs::path& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    auto file = directory / name, index = directory / (name + std::string(kIndex));
    if (fs::exists(file)) return file;
    if (fs::exists(index)) return index;
  }
  fail(directory.string(), ": has no weights: neither model.safetensors nor pytorch_model.bin, and no index of either");
}

StoredTensors open_file(const fs::path& path, const OpenTorchFileOptions& options) {
  return is_torch_file(path) ? open_state_dict(path, options) : open_safetensors(path);
}

/// Opens one shard and compares its tensors with the index.
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
  std::map<std::string, fs::path> shard_of;
  for (const auto& shard : formats::shards_of_index(path, is_of_torch_files ? ".bin" : ".safetensors")) {
    for (auto& [name, tensor] : open_shard(shard, options)) {
      const auto [shard_before, is_new] = shard_of.emplace(name, shard.path);
      if (!is_new) fail(shard.path.string(), ": contains ", name, ", and so does ", shard_before->second.string());
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
