#pragma once

// The index of a model in several files, model.safetensors.index.json or pytorch_model.bin.index.json: which file holds
// which tensor.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate::formats {

/// The files that the text of an index names, each once. Throws Error naming `source` when it is no index, or when a
/// name is not that of a file of this kind (`extension`, such as ".safetensors") in the directory of the index.
std::set<std::string> decode_shard_index(std::string_view text, std::string_view extension, const std::string& source);

/// The paths of these files, sorted by name. Throws Error, too, when one of them is missing.
std::vector<std::filesystem::path> shards_of_index(const std::filesystem::path& index, std::string_view extension);

}  // namespace accelerate::formats
