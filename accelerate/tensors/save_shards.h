#pragma once

// A model in files of a limited size, with an index that says which tensor is where: the layout of Python's packages.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "accelerate/tensors/safetensors.h"

namespace accelerate::tensors {

struct SaveShardsOptions {
  uint64_t max_shard_bytes = 10'000'000'000;
  std::string name = "model";  // files are called <name>-00001-of-00002<extension>, a single one <name><extension>
  std::string extension = ".safetensors";
  std::function<void(const TensorList&, const std::filesystem::path&)> write = {};  // not given: as safetensors
  bool count_parameters = false;  // the index tells their number too, as that of Transformers does
};

/// Divides tensors in their order, each part as full as the limit allows. One that is larger than the limit is a part
/// of its own.
std::vector<TensorList> divide_into_shards(const TensorList& tensors, uint64_t max_shard_bytes);

/// Writes the tensors into `directory`: one file, or several and <name><extension>.index.json. Files of an earlier and
/// differently divided model that have such names go away. Throws Error naming the file that cannot be written.
void save_shards(const TensorList& tensors, const std::filesystem::path& directory, const SaveShardsOptions& options);

}  // namespace accelerate::tensors
