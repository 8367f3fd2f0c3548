#pragma once

// What the files of a model are called when it is in one file or in several.

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

namespace accelerate::formats {

inline constexpr const char* kSingleModelFile = "model.safetensors";
inline constexpr const char* kModelIndexFile = "model.safetensors.index.json";

/// A single file is called <name><extension>, one of several <name>-00001-of-00002<extension>.
struct ModelFileNames {
  std::string name = "model";
  std::string extension = ".safetensors";

  /// The file at `place`, counted from 0, of `count`.
  std::string file(size_t place, size_t count) const;
  /// The file that says which tensor is in which of several.
  std::string index() const;
};

/// Removes files of an earlier model with such names that are not among `kept`, for good: one that came back after a
/// crash could be taken for the model. While they go, the earlier model is there as a whole or not at all.
void remove_other_model_files(const std::filesystem::path& directory, const ModelFileNames& names,
                              const std::set<std::string>& kept);

}  // namespace accelerate::formats
