#include "accelerate/tensors/safetensors_file.h"

#include <ATen/ops/empty.h>

#include "accelerate/formats/safetensors_shards.h"
#include "accelerate/tensors/safetensors_types.h"
#include "accelerate/tensors/stored_tensor.h"

namespace accelerate::tensors {

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(std::make_shared<const File>(File::open(path))) {
  auto shard = formats::read_safetensors_header(*file_);
  for (auto& entry : shard.header.entries) {
    entries_.push_back({.name = std::move(entry.name),
                        .type = scalar_type_of(entry.dtype, path.string()),
                        .shape = std::move(entry.shape),
                        .begin = shard.data_begin + entry.begin,
                        .bytes = entry.end - entry.begin});
  }
}

void SafetensorsFile::copy_into(const Entry& entry, at::Tensor& destination) const {
  bool is_straight = destination.is_cpu() && destination.is_contiguous() && destination.scalar_type() == entry.type &&
                     destination.nbytes() == entry.bytes;
  auto values = is_straight ? destination : at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
  read_values(*file_, entry.begin, values, entry.name);
  if (!is_straight) destination.copy_(values);
}

}  // namespace accelerate::tensors
