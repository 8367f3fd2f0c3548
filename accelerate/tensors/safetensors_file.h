#pragma once

// One safetensors file, mapped into memory.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// The tensors of a file without reading them: opening it reads the header alone, and the bytes of a tensor come from
/// the disk when they are touched. Copies share the mapping.
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
  const std::filesystem::path& path() const { return path_; }

  /// A view into the mapping, which lives as long as the tensor does. Writing to it does not reach the file.
  at::Tensor view(const Entry& entry) const;

  /// Reads a tensor's values into `destination`, of the same shape and of any type. Takes no memory beside it unless
  /// the type or the device differs, so that loading a model takes the memory of the model alone.
  void copy_into(const Entry& entry, at::Tensor& destination) const;

 private:
  class Mapping;

  std::filesystem::path path_;
  std::shared_ptr<Mapping> mapping_;
  std::vector<Entry> entries_;
};

}  // namespace accelerate::tensors
