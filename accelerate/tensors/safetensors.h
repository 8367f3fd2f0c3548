#pragma once

// Reads and writes tensors in safetensors files.

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/file.h"
#include "accelerate/tensors/stored_tensor.h"

namespace accelerate::tensors {

using TensorList = std::vector<std::pair<std::string, at::Tensor>>;

/// Writes the tensors to `path`, through a temporary file and an atomic rename. The bytes are identical to the
/// reference writer's, including the metadata {"format": "pt"}. Throws Error naming the path if it cannot be written,
/// and for types that the format does not have.
void save_safetensors(const TensorList& tensors, const std::filesystem::path& path,
                      const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

/// Appends the bytes of such a file.
void write_safetensors(const TensorList& tensors, const Append& append,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

/// Opens a file and returns its tensors in file order. Reads only the header. Throws Error naming the file if it cannot
/// be read or is malformed.
StoredTensors open_safetensors(const std::filesystem::path& path);

/// Reads all tensors of a file to the CPU, in file order.
TensorList load_safetensors(const std::filesystem::path& path);

}  // namespace accelerate::tensors
