#include "transformers/checkpoint_files.h"

#include "accelerate/base/error.h"
#include "accelerate/formats/shard_index.h"
#include "accelerate/tensors/safetensors_file.h"
#include "accelerate/tensors/torch_file.h"

namespace transformers {

namespace {

namespace fs = std::filesystem;
using accelerate::fail;
using accelerate::tensors::SafetensorsFile;

void add_safetensors(const fs::path& path, std::vector<CheckpointTensor>& tensors) {
  SafetensorsFile file(path);
  for (const auto& entry : file.entries()) {
    tensors.push_back({entry.name, entry.type, entry.shape,
                       [file, entry](at::Tensor& destination) { file.copy_into(entry, destination); }});
  }
}

void add_torch_file(const fs::path& path, std::vector<CheckpointTensor>& tensors) {
  using accelerate::formats::ValueKind;
  auto value = accelerate::tensors::load_torch_file(path);
  if (value.kind() != ValueKind::Dict && value.kind() != ValueKind::OrderedDict) {
    fail(path.string(), ": holds a ", python_name_of(value.kind()), ", not the weights of a model by their names");
  }
  for (const auto& [key, entry] : value.entries()) {
    if (key.kind() != ValueKind::Text || entry.kind() != ValueKind::Tensor) {
      fail(path.string(), ": is not the weights of a model: a ", python_name_of(entry.kind()), " is among its values");
    }
    const auto& tensor = entry.tensor();
    tensors.push_back({key.text(), tensor.scalar_type(), tensor.sizes().vec(),
                       [tensor](at::Tensor& destination) { destination.copy_(tensor); }});
  }
}

/// The files of a kind: the one that holds everything, or those that its index names. Empty when there is neither.
std::vector<fs::path> find_files(const fs::path& directory, const std::string& name, std::string_view extension) {
  auto single = directory / (name + std::string(extension));
  if (fs::exists(single)) return {single};
  auto index = single;
  index += ".index.json";
  if (fs::exists(index)) return accelerate::formats::shards_of_index(index, extension);
  return {};
}

}  // namespace

std::vector<CheckpointTensor> open_checkpoint(const fs::path& directory) {
  std::vector<CheckpointTensor> tensors;
  auto files = find_files(directory, "model", ".safetensors");
  for (const auto& file : files) add_safetensors(file, tensors);
  if (!files.empty()) return tensors;
  files = find_files(directory, "pytorch_model", ".bin");
  for (const auto& file : files) add_torch_file(file, tensors);
  if (!files.empty()) return tensors;
  fail(directory.string(),
       " has no weights: neither model.safetensors nor pytorch_model.bin, and no index of one of them");
}

}  // namespace transformers
