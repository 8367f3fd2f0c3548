#include "cli/model_tensors.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/formats/model_files.h"
#include "accelerate/formats/safetensors/files.h"
#include "cli/model_tensors.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;

nlohmann::json read_json(const fs::path& path) {
  try {
    auto json = nlohmann::json::parse(std::ifstream(path));
    if (!json.is_object()) fail(path.string(), ": this is not the configuration of a model");
    return json;
  } catch (const nlohmann::json::exception& error) {
    fail(path.string(), ": this is not JSON: ", error.what());
  }
}

bool is_floating(const std::string& dtype) { return dtype.starts_with("F") || dtype.starts_with("BF"); }

std::vector<ModelTensor> tensors_of_files(const fs::path& path) {
  std::vector<ModelTensor> tensors;
  for (const auto& shard : formats::open_safetensors_model(path)) {
    for (const auto& entry : shard.header.entries) {
      uint64_t elements = 1;
      for (auto size : entry.shape) elements *= size;
      auto bytes = is_floating(entry.dtype) ? elements * 4 : entry.end - entry.begin;
      tensors.push_back({entry.name, bytes});
    }
  }
  return tensors;
}

bool has_weights(const fs::path& directory) {
  return fs::exists(directory / formats::kSingleModelFile) || fs::exists(directory / formats::kModelIndexFile);
}

/// The module of a tensor that is placed as a whole: the outermost block around it, or the module that holds it.
std::string unit_of(const std::string& tensor, const ModelBlocks& blocks) {
  std::string path, previous;
  size_t begin = 0;
  for (auto dot = tensor.find('.'); dot != std::string::npos; dot = tensor.find('.', begin)) {
    auto part = tensor.substr(begin, dot - begin);
    path += (begin == 0 ? "" : ".") + part;
    bool is_number = std::all_of(part.begin(), part.end(), [](unsigned char letter) { return std::isdigit(letter); });
    bool in_list = is_number && !blocks.list.empty() && previous == blocks.list;
    if (in_list || (blocks.embeddings && part == "embeddings")) return path;
    previous = part;
    begin = dot + 1;
  }
  return path.empty() ? tensor : path;
}

}  // namespace

ModelDescription describe_model(const fs::path& path) {
  if (!fs::exists(path)) fail(path.string(), ": no such file or directory; models are read only from this machine");
  bool directory = fs::is_directory(path);
  auto config = directory ? path / "config.json" : path;
  if (config.extension() == ".json" && config.filename().string().find(".index.") == std::string::npos &&
      fs::exists(config) && !(directory && has_weights(path))) {
    return describe_family(read_json(config), config.string());
  }
  ModelDescription model{.tensors = tensors_of_files(path), .blocks = {}};
  auto beside = (directory ? path : fs::absolute(path).parent_path()) / "config.json";
  if (fs::exists(beside)) model.blocks = blocks_of_family(read_json(beside), beside.string());
  return model;
}

ModelSize measure(const ModelDescription& model) {
  ModelSize size;
  std::map<std::string, uint64_t> units;
  for (const auto& tensor : model.tensors) {
    size.total_bytes += tensor.bytes;
    auto& unit = units[unit_of(tensor.name, model.blocks)];
    unit += tensor.bytes;
    size.largest_layer_bytes = std::max(size.largest_layer_bytes, unit);
  }
  return size;
}

}  // namespace accelerate::cli
