#pragma once

// The files of a model: a single file, or shards with an index that maps tensors to shards. Names, division and index
// equal those of Python's packages.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accelerate::formats {

inline constexpr const char* kSingleModelFile = "model.safetensors";
inline constexpr const char* kModelIndexFile = "model.safetensors.index.json";

/// A single file is named <name><extension>, a shard <name>-00001-of-00002<extension>.
struct ModelFileNames {
  std::string name = "model";
  std::string extension = ".safetensors";

  /// The name of shard `place` (from 0) of `count`.
  std::string file(size_t place, size_t count) const;
  /// The name of the index, which maps tensors to shards.
  std::string index() const;
};

/// Durably removes files of an earlier model that have such names and are not in `kept`: a file that reappeared after a
/// crash could be mistaken for the model. At any time during the removal the earlier model is complete or absent.
void remove_other_model_files(const std::filesystem::path& directory, const ModelFileNames& names,
                              const std::set<std::string>& kept);

/// Divides tensors in order into shards of at most `max_bytes`. A larger tensor gets its own shard. Returns at least
/// one shard. `bytes_of(tensor)` is the size of a tensor.
template <class Tensor, class BytesOf>
std::vector<std::vector<Tensor>> divide_into_shards(const std::vector<Tensor>& tensors, uint64_t max_bytes,
                                                    BytesOf&& bytes_of) {
  std::vector<std::vector<Tensor>> shards;
  std::vector<Tensor> filling;
  uint64_t filled = 0;
  for (const auto& tensor : tensors) {
    const uint64_t bytes = bytes_of(tensor);
    if (bytes > max_bytes) {
      shards.push_back({tensor});
      continue;
    }
    if (filled + bytes > max_bytes) {
      shards.push_back(std::exchange(filling, {}));
      filled = 0;
    }
    filling.push_back(tensor);
    filled += bytes;
  }
  if (!filling.empty() || shards.empty()) shards.push_back(std::move(filling));
  return shards;
}

/// Parses an index: the files with the tensors of each. Throws Error naming `source` if the text is not an index, or if
/// a name is not a file with `extension`, such as ".safetensors", in the directory of the index.
std::map<std::string, std::set<std::string>> decode_shard_index(std::string_view text, std::string_view extension,
                                                                const std::string& source);

/// A shard as described by its index.
struct IndexedShard {
  std::filesystem::path path = {};
  std::set<std::string> tensors = {};
};

/// Reads the shards of an index file, sorted by name. Throws Error also if one of them is missing.
std::vector<IndexedShard> shards_of_index(const std::filesystem::path& index, std::string_view extension);

/// Compares a shard with its index. Throws Error listing the missing tensors: it is not the file that the index was
/// written for. Warns about additional tensors.
void check_shard(const IndexedShard& shard, const std::set<std::string>& held);

}  // namespace accelerate::formats
