#pragma once

// The file names of a model in one file or in shards.

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

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

}  // namespace accelerate::formats
