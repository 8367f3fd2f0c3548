#pragma once

// The safetensors files of a model on disk: a single file, or shards with an index.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "accelerate/base/file.h"
#include "accelerate/formats/safetensors/header.h"

namespace accelerate::formats {

/// A file with its parsed header.
struct SafetensorsShard {
  std::filesystem::path path = {};
  SafetensorsHeader header = {};
  uint64_t data_begin = 0;  // position of the tensors' bytes in the file
};

/// Reads only the header of a file. Throws Error naming the file if it cannot be read or is malformed.
SafetensorsShard open_safetensors(const std::filesystem::path& path);
/// The same for an open file.
SafetensorsShard read_safetensors_header(const File& file);

/// The files of a model: `path` itself or, in a directory, model.safetensors or the shards in
/// model.safetensors.index.json, sorted by name. Throws Error if there are none, if one is missing or outside of the
/// directory, if two hold the same tensor, or if one lacks a tensor of the index.
std::vector<SafetensorsShard> open_safetensors_model(const std::filesystem::path& path);

/// A tensor and its file, which must outlive this object.
struct ShardEntry {
  const SafetensorsShard* shard = nullptr;
  SafetensorsEntry entry = {};

  uint64_t bytes() const { return entry.end - entry.begin; }
};

/// Writes tensors to one file and copies their bytes in pieces, so the model may be larger than memory. The file
/// appears atomically. Throws Error naming the file.
void write_safetensors(const std::filesystem::path& file, const std::vector<ShardEntry>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace accelerate::formats
