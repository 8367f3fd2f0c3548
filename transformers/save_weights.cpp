#include "transformers/save_weights.h"

#include <cstdio>
#include <fstream>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/tensors/safetensors.h"

namespace transformers {

namespace {

namespace fs = std::filesystem;
using accelerate::fail;
using accelerate::tensors::TensorList;

/// In the order of the model, each as full as the limit allows.
std::vector<TensorList> split(const TensorList& weights, uint64_t limit) {
  std::vector<TensorList> shards(1);
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : weights) {
    if (bytes + tensor.nbytes() > limit && !shards.back().empty()) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().emplace_back(name, tensor);
    bytes += tensor.nbytes();
  }
  return shards;
}

std::string shard_name(size_t index, size_t count) {
  if (count == 1) return "model.safetensors";
  char name[64];
  std::snprintf(name, sizeof(name), "model-%05zu-of-%05zu.safetensors", index + 1, count);
  return name;
}

void write_index(const std::vector<TensorList>& shards, const fs::path& path) {
  nlohmann::json index = {{"metadata", {{"total_parameters", 0}, {"total_size", 0}}}, {"weight_map", {}}};
  uint64_t parameters = 0, bytes = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    for (const auto& [name, tensor] : shards[i]) {
      index["weight_map"][name] = shard_name(i, shards.size());
      parameters += static_cast<uint64_t>(tensor.numel());
      bytes += tensor.nbytes();
    }
  }
  index["metadata"] = {{"total_parameters", parameters}, {"total_size", bytes}};
  std::ofstream file(path);
  file << index.dump(2) << '\n';
  file.close();
  if (!file) fail("cannot write ", path.string());
}

void remove_others(const fs::path& directory, const std::set<std::string>& written) {
  static const std::regex weights("model(-\\d{5}-of-\\d{5})?\\.safetensors(\\.index\\.json)?");
  for (const auto& entry : fs::directory_iterator(directory)) {
    auto name = entry.path().filename().string();
    if (std::regex_match(name, weights) && !written.contains(name)) fs::remove(entry.path());
  }
}

}  // namespace

void save_weights(const torch::nn::Module& model, const fs::path& directory, uint64_t max_shard_size) {
  TensorList weights;
  for (const auto& item : model.named_parameters()) weights.emplace_back(item.key(), item.value());
  auto shards = split(weights, max_shard_size);
  std::set<std::string> written;
  for (size_t i = 0; i < shards.size(); ++i) {
    auto name = shard_name(i, shards.size());
    accelerate::tensors::save_safetensors(shards[i], directory / name);
    written.insert(name);
  }
  if (shards.size() > 1) {
    constexpr auto kIndex = "model.safetensors.index.json";
    write_index(shards, directory / kIndex);
    written.insert(kIndex);
  }
  remove_others(directory, written);
}

std::string python_name_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    default:
      fail("a model of type ", c10::toString(type), " has no name in a configuration");
  }
}

}  // namespace transformers
