#pragma once

// The safetensors files of a model on disk: one, or several with an index that says which tensor is where.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "accelerate/base/file.h"
#include "accelerate/formats/safetensors.h"

namespace accelerate::formats {

/// A file of which the header has been read.
struct SafetensorsShard {
  std::filesystem::path path = {};
  SafetensorsHeader header = {};
  uint64_t data_begin = 0;  // where the tensors' bytes begin in the file
};

/// Reads the header of a file, and nothing else. Throws Error naming the file when it cannot be read or is malformed.
SafetensorsShard open_safetensors(const std::filesystem::path& path);
/// The same for a file that is open already.
SafetensorsShard read_safetensors_header(const File& file);

/// The files of a model: `path` itself, or in a directory model.safetensors, or the shards that
/// model.safetensors.index.json names, sorted by name. Throws Error when there are none, when one is missing or lies
/// outside of the directory, when two hold the same tensor, or when one lacks a tensor that the index promises.
std::vector<SafetensorsShard> open_safetensors_model(const std::filesystem::path& path);

/// A tensor and the file that holds it, which has to outlive this.
struct ShardEntry {
  const SafetensorsShard* shard = nullptr;
  SafetensorsEntry entry = {};

  uint64_t bytes() const { return entry.end - entry.begin; }
};

/// Writes tensors into one file, copying their bytes in pieces: a model larger than the memory is no problem. The file
/// appears as a whole or not at all. Throws Error naming the file.
void write_safetensors(const std::filesystem::path& file, const std::vector<ShardEntry>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace accelerate::formats
