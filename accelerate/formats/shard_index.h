#pragma once

// The index of a model in several files, model.safetensors.index.json or pytorch_model.bin.index.json: which file holds
// which tensor.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate::formats {

/// The files that the text of an index names, with the tensors of each. Throws Error naming `source` when it is no
/// index, or when a name is not that of a file of this kind (`extension`, such as ".safetensors") in the directory of
/// the index.
std::map<std::string, std::set<std::string>> decode_shard_index(std::string_view text, std::string_view extension,
                                                                const std::string& source);

/// A file as its index describes it.
struct IndexedShard {
  std::filesystem::path path = {};
  std::set<std::string> tensors = {};
};

/// The files of an index, sorted by name. Throws Error, too, when one of them is missing.
std::vector<IndexedShard> shards_of_index(const std::filesystem::path& index, std::string_view extension);

/// Compares a file with its index. Throws Error that lists the tensors it lacks: it is not the file that the index was
/// written for. Those that it has beyond get a warning.
void check_shard(const IndexedShard& shard, const std::set<std::string>& held);

}  // namespace accelerate::formats
