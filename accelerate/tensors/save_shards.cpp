#include "accelerate/tensors/save_shards.h"

#include <cstdio>
#include <deque>
#include <regex>
#include <set>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "accelerate/base/atomic_file.h"
#include "accelerate/formats/divide_into_shards.h"

namespace accelerate::tensors {
namespace {

namespace fs = std::filesystem;

std::string shard_name(const SaveShardsOptions& options, size_t index, size_t count) {
  if (count == 1) return options.name + options.extension;
  char place[32];
  std::snprintf(place, sizeof(place), "-%05zu-of-%05zu", index + 1, count);
  return options.name + place + options.extension;
}

std::string index_of(const std::vector<TensorList>& shards, const SaveShardsOptions& options) {
  nlohmann::json map;
  uint64_t num_parameters = 0, bytes = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    for (const auto& [name, tensor] : shards[i]) {
      map[name] = shard_name(options, i, shards.size());
      num_parameters += static_cast<uint64_t>(tensor.numel());
      bytes += tensor.nbytes();
    }
  }
  nlohmann::json metadata = {{"total_size", bytes}};
  if (options.count_parameters) metadata["total_parameters"] = num_parameters;
  return nlohmann::json{{"metadata", metadata}, {"weight_map", map}}.dump(2) + "\n";
}

void remove_others(const fs::path& directory, const SaveShardsOptions& options, const std::set<std::string>& written) {
  const auto extension = std::regex_replace(options.extension, std::regex("\\."), "\\.");
  const std::regex weights(options.name + "(-\\d{5}-of-\\d{5})?" + extension + "(\\.index\\.json)?");
  for (const auto& entry : fs::directory_iterator(directory)) {
    auto name = entry.path().filename().string();
    if (std::regex_match(name, weights) && !written.contains(name)) fs::remove(entry.path());
  }
  sync_directory(directory);  // a single file that came back after a crash would be preferred to shards
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
  const auto index = options.name + options.extension + ".index.json";
  std::deque<AtomicFile> files;
  std::set<std::string> written;
  bool replaces = false;
  for (size_t i = 0; i < shards.size(); ++i) {
    const auto name = shard_name(options, i, shards.size());
    append_shard(files.emplace_back(directory / name), shards[i], name, options);
    replaces = replaces || fs::exists(directory / name);
    written.insert(name);
  }
  if (shards.size() > 1 && replaces) {
    // Shards of two models under the names of one: without the index nobody takes them for it.
    fs::remove(directory / index);
    sync_directory(directory);
  }
  for (auto& file : files) file.commit();
  if (shards.size() > 1) {
    write_file_atomically(directory / index, index_of(shards, options));
    written.insert(index);
  }
  remove_others(directory, options, written);
}

}  // namespace accelerate::tensors
