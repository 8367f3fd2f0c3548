#include "accelerate/tensors/save_shards.h"

#include <cstdio>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "accelerate/base/atomic_file.h"

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
}

}  // namespace

std::vector<TensorList> divide_into_shards(const TensorList& tensors, uint64_t max_shard_bytes) {
  std::vector<TensorList> shards;
  TensorList filling;
  uint64_t bytes = 0;
  for (const auto& item : tensors) {
    const uint64_t more = item.second.nbytes();
    if (more > max_shard_bytes) {
      shards.push_back({item});
      continue;
    }
    if (bytes + more > max_shard_bytes) {
      shards.push_back(std::exchange(filling, {}));
      bytes = 0;
    }
    filling.push_back(item);
    bytes += more;
  }
  if (!filling.empty() || shards.empty()) shards.push_back(std::move(filling));
  return shards;
}

void save_shards(const TensorList& tensors, const fs::path& directory, const SaveShardsOptions& options) {
  const auto shards = divide_into_shards(tensors, options.max_shard_bytes);
  std::set<std::string> written;
  for (size_t i = 0; i < shards.size(); ++i) {
    const auto name = shard_name(options, i, shards.size());
    if (options.write) {
      options.write(shards[i], directory / name);
    } else {
      save_safetensors(shards[i], directory / name);
    }
    written.insert(name);
  }
  if (shards.size() > 1) {
    const auto name = options.name + options.extension + ".index.json";
    write_file_atomically(directory / name, index_of(shards, options));
    written.insert(name);
  }
  remove_others(directory, options, written);
}

}  // namespace accelerate::tensors
