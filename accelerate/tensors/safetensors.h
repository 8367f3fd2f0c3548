#pragma once

// Tensors in safetensors files.

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/append.h"
#include "accelerate/tensors/stored_tensor.h"

namespace accelerate::tensors {

using TensorList = std::vector<std::pair<std::string, at::Tensor>>;

/// Writes the tensors to `path`, through a file beside it that takes its name when it is complete. The bytes are those
/// of the reference writer, metadata {"format": "pt"} included. Throws Error naming the path when it cannot be written,
/// and for types the format does not have.
void save_safetensors(const TensorList& tensors, const std::filesystem::path& path,
                      const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

/// The bytes of such a file.
void write_safetensors(const TensorList& tensors, const Append& append,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

/// The tensors of a file without reading them, in the order of their bytes: opening it reads the header alone. Throws
/// Error naming the file when it cannot be read or is malformed.
StoredTensors open_safetensors(const std::filesystem::path& path);

/// Reads all tensors of a file, on the CPU, in the order of their bytes.
TensorList load_safetensors(const std::filesystem::path& path);

}  // namespace accelerate::tensors
