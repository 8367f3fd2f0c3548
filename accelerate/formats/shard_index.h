#pragma once

// The index of a sharded model, model.safetensors.index.json or pytorch_model.bin.index.json: it maps tensors to files.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate::formats {

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
