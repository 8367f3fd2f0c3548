#include "accelerate/tensors/save_shards.h"

#include <deque>
#include <set>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "accelerate/base/atomic_file.h"
#include "accelerate/formats/model_files.h"

namespace accelerate::tensors {
namespace {

namespace fs = std::filesystem;

std::string index_of(const std::vector<TensorList>& shards, const SaveShardsOptions& options) {
  nlohmann::json map;
  uint64_t num_parameters = 0, bytes = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    for (const auto& [name, tensor] : shards[i]) {
      map[name] = options.names.file(i, shards.size());
      num_parameters += static_cast<uint64_t>(tensor.numel());
      bytes += tensor.nbytes();
    }
  }
  nlohmann::json metadata = {{"total_size", bytes}};
  if (options.count_parameters) metadata["total_parameters"] = num_parameters;
  return nlohmann::json{{"metadata", metadata}, {"weight_map", map}}.dump(2) + "\n";
}

void append_shard(AtomicFile& file, const TensorList& shard, const std::string& name,
                  const SaveShardsOptions& options) {
  auto append = [&](std::string_view bytes) { file.append(bytes); };
  if (options.write) return options.write(shard, name, append);
  write_safetensors(shard, append);
}

}  // namespace

void save_shards(const TensorList& tensors, const fs::path& directory, const SaveShardsOptions& options) {
  const auto shards = formats::divide_into_shards(tensors, options.max_shard_bytes,
                                                  [](const auto& tensor) { return tensor.second.nbytes(); });
  const auto index = options.names.index();
  std::deque<AtomicFile> files;
  std::set<std::string> written;
  bool replaces = false;
  for (size_t i = 0; i < shards.size(); ++i) {
    const auto name = options.names.file(i, shards.size());
    append_shard(files.emplace_back(directory / name), shards[i], name, options);
    replaces = replaces || fs::exists(directory / name);
    written.insert(name);
  }
  if (shards.size() > 1 && replaces) {
    // While shards are replaced, the directory has shards of both models. Without an index they are not loaded.
    fs::remove(directory / index);
    sync_directory(directory);
  }
  for (auto& file : files) file.commit();
  if (shards.size() > 1) {
    write_file_atomically(directory / index, index_of(shards, options));
    written.insert(index);
  }
  formats::remove_other_model_files(directory, options.names, written);
}

}  // namespace accelerate::tensors
