#pragma once

// One safetensors file, of which tensors are read one by one.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/file.h"

namespace accelerate::tensors {

/// The tensors of a file without reading them: opening it reads the header alone. Copies share the open file.
class SafetensorsFile {
 public:
  /// Throws Error naming the file when it cannot be read or is malformed.
  explicit SafetensorsFile(const std::filesystem::path& path);

  struct Entry {
    std::string name;
    at::ScalarType type = at::kFloat;
    std::vector<int64_t> shape = {};
    uint64_t begin = 0;  // of its bytes, from the start of the file
    uint64_t bytes = 0;
  };

  /// In the order of their bytes.
  const std::vector<Entry>& entries() const { return entries_; }
  const std::filesystem::path& path() const { return file_->path(); }

  /// Reads a tensor's values into `destination`, of the same shape and of any type; straight into its memory when that
  /// is possible, so that loading a model takes the memory of the model alone. Throws Error naming the file when it has
  /// become shorter since it was opened, or when a bool in it is neither 0 nor 1.
  void copy_into(const Entry& entry, at::Tensor& destination) const;

 private:
  std::shared_ptr<const File> file_;
  std::vector<Entry> entries_;
};

}  // namespace accelerate::tensors
