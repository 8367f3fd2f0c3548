#include "accelerate/formats/safetensors_shards.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"

namespace accelerate::formats {

namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = size_t{4} << 20;

/// The names of the shards in an index, each once.
std::set<std::string> shard_names(const fs::path& index) {
  static const std::regex kName(R"([\w.-]+\.safetensors)");
  std::set<std::string> names;
  try {
    auto json = nlohmann::json::parse(std::ifstream(index));
    for (const auto& [tensor, file] : json.at("weight_map").items()) names.insert(file.get<std::string>());
  } catch (const nlohmann::json::exception& error) {
    fail(index.string(), ": this is not the index of a model in shards: ", error.what());
  }
  for (const auto& name : names) {
    if (!std::regex_match(name, kName) || name.starts_with(".")) {
      fail(index.string(), ": the shard '", name, "' is no safetensors file of this directory");
    }
  }
  return names;
}

std::string unreadable_formats_in(const fs::path& directory) {
  for (const auto& file : fs::directory_iterator(directory)) {
    if (file.path().extension() == ".distcp")
      return "; .distcp files are only read by Python's accelerate merge-weights";
    if (file.path().filename() == "pytorch_model.bin") return "; save the model as safetensors in Python first";
  }
  return "";
}

void check_names_differ(const std::vector<SafetensorsShard>& shards) {
  std::map<std::string, fs::path> homes;
  for (const auto& shard : shards) {
    for (const auto& entry : shard.header.entries) {
      auto [home, is_new] = homes.emplace(entry.name, shard.path);
      if (!is_new) fail(shard.path.string(), ": holds ", entry.name, ", and so does ", home->second.string());
    }
  }
}

}  // namespace

SafetensorsShard open_safetensors(const fs::path& file) {
  if (fs::is_directory(file)) fail(file.string(), ": this is a directory, not a safetensors file");
  auto input = File::open(file);
  uint64_t file_bytes = input.bytes();
  std::string bytes(std::min<uint64_t>(file_bytes, sizeof(uint64_t)), '\0');
  input.read_at(0, bytes.data(), bytes.size());
  auto header_bytes = safetensors_header_bytes(bytes, file_bytes, file.string());
  bytes.resize(sizeof(uint64_t) + header_bytes);
  input.read_at(0, bytes.data(), bytes.size());
  return {file, decode_safetensors_header(bytes, file_bytes, file.string()), bytes.size()};
}

std::vector<SafetensorsShard> open_safetensors_model(const fs::path& path) {
  if (!fs::exists(path)) fail(path.string(), ": no such file or directory");
  if (!fs::is_directory(path)) return {open_safetensors(path)};
  if (fs::exists(path / "model.safetensors")) return {open_safetensors(path / "model.safetensors")};
  auto index = path / "model.safetensors.index.json";
  if (!fs::exists(index)) {
    fail(path.string(), ": has neither model.safetensors nor model.safetensors.index.json",
         unreadable_formats_in(path));
  }
  std::vector<SafetensorsShard> shards;
  for (const auto& name : shard_names(index)) {
    if (!fs::exists(path / name)) fail(index.string(), ": the shard ", name, " is missing");
    shards.push_back(open_safetensors(path / name));
  }
  check_names_differ(shards);
  return shards;
}

void write_safetensors(const fs::path& file, const std::vector<ShardEntry>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::map<std::string, const ShardEntry*> sources;
  for (const auto& tensor : tensors) {
    header.entries.push_back(tensor.entry);
    sources[tensor.entry.name] = &tensor;
  }
  layout_safetensors(header.entries);

  AtomicFile output(file);
  output.append(encode_safetensors_header(header));
  std::vector<char> piece(kPieceBytes);
  for (const auto& entry : header.entries) {
    const auto& source = *sources.at(entry.name);
    auto input = File::open(source.shard->path);
    auto position = source.shard->data_begin + source.entry.begin;
    for (uint64_t left = source.bytes(); left > 0;) {
      auto size = std::min<uint64_t>(left, piece.size());
      input.read_at(position, piece.data(), size);
      output.append({piece.data(), size});
      position += size;
      left -= size;
    }
  }
  output.commit();
}

std::vector<std::vector<ShardEntry>> divide_into_shards(const std::vector<ShardEntry>& tensors, uint64_t max_bytes) {
  std::vector<std::vector<ShardEntry>> shards;
  std::vector<std::vector<ShardEntry>> large;
  uint64_t filled = 0;
  for (const auto& tensor : tensors) {
    if (tensor.bytes() > max_bytes) {
      large.push_back({tensor});
      continue;
    }
    if (shards.empty() || filled + tensor.bytes() > max_bytes) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(tensor);
    filled += tensor.bytes();
  }
  shards.insert(shards.end(), large.begin(), large.end());
  return shards;
}

}  // namespace accelerate::formats
