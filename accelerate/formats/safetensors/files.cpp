#include "accelerate/formats/safetensors/files.h"

#include <algorithm>
#include <set>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/formats/model_files.h"

namespace accelerate::formats {

namespace {

namespace fs = std::filesystem;

std::string unreadable_formats_in(const fs::path& directory) {
  for (const auto& file : fs::directory_iterator(directory)) {
    if (file.path().extension() == ".distcp") return "; only Python's accelerate merge-weights reads .distcp files";
    if (file.path().filename() == "pytorch_model.bin") return "; save the model as safetensors in Python first";
  }
  return "";
}

void check_names_differ(const std::vector<SafetensorsShard>& shards) {
  std::map<std::string, fs::path> homes;
  for (const auto& shard : shards) {
    for (const auto& entry : shard.header.entries) {
      auto [home, is_new] = homes.emplace(entry.name, shard.path);
      if (!is_new) fail(shard.path.string(), ": contains ", entry.name, ", and so does ", home->second.string());
    }
  }
}

}  // namespace

SafetensorsShard open_safetensors(const fs::path& path) {
  if (fs::is_directory(path)) fail(path.string(), ": this is a directory, not a safetensors file");
  return read_safetensors_header(File::open(path));
}

SafetensorsShard read_safetensors_header(const File& file) {
  const auto source = file.path().string();
  uint64_t file_bytes = file.bytes();
  std::string bytes(std::min<uint64_t>(file_bytes, sizeof(uint64_t)), '\0');
  file.read_at(0, bytes.data(), bytes.size());
  auto header_bytes = safetensors_header_bytes(bytes, file_bytes, source);
  bytes.resize(sizeof(uint64_t) + header_bytes);
  file.read_at(0, bytes.data(), bytes.size());
  return {file.path(), decode_safetensors_header(bytes, file_bytes, source), bytes.size()};
}

std::vector<SafetensorsShard> open_safetensors_model(const fs::path& path) {
  if (!fs::exists(path)) fail(path.string(), ": no such file or directory");
  if (!fs::is_directory(path)) return {open_safetensors(path)};
  if (fs::exists(path / kSingleModelFile)) return {open_safetensors(path / kSingleModelFile)};
  auto index = path / kModelIndexFile;
  if (!fs::exists(index)) {
    fail(path.string(), ": has neither ", kSingleModelFile, " nor ", kModelIndexFile, unreadable_formats_in(path));
  }
  std::vector<SafetensorsShard> shards;
  for (const auto& indexed : shards_of_index(index, ".safetensors")) {
    shards.push_back(open_safetensors(indexed.path));
    std::set<std::string> held;
    for (const auto& entry : shards.back().header.entries) held.insert(entry.name);
    check_shard(indexed, held);
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
  for (const auto& entry : header.entries) {
    const auto& source = *sources.at(entry.name);
    auto input = File::open(source.shard->path);
    input.read_pieces(source.shard->data_begin + source.entry.begin, source.bytes(),
                      [&](std::string_view piece) { output.append(piece); });
  }
  output.commit();
}

}  // namespace accelerate::formats
