#include "accelerate/tensors/safetensors.h"

#include <memory>
#include <unordered_map>

#include <ATen/ops/empty.h>
#include <c10/util/strides.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/formats/safetensors/files.h"
#include "accelerate/formats/safetensors/header.h"
#include "accelerate/tensors/safetensors_types.h"

namespace accelerate::tensors {

void write_safetensors(const TensorList& tensors, const Append& append,
                       const std::map<std::string, std::string>& metadata) {
  formats::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::unordered_map<std::string, at::Tensor> by_name;
  for (const auto& [name, tensor] : tensors) {
    if (!by_name.emplace(name, tensor).second) fail("two tensors have the name '", name, "'");
    header.entries.push_back({.name = name,
                              .dtype = std::string(safetensors_name_of(tensor.scalar_type(), name)),
                              .shape = tensor.sizes().vec()});
  }
  formats::layout_safetensors(header.entries);
  append(formats::encode_safetensors_header(header));
  for (const auto& entry : header.entries) {
    auto plain = by_name.at(entry.name).detach().to(at::kCPU).contiguous();
    append({static_cast<const char*>(plain.const_data_ptr()), plain.nbytes()});
  }
}

void save_safetensors(const TensorList& tensors, const std::filesystem::path& path,
                      const std::map<std::string, std::string>& metadata) {
  AtomicFile file(path);
  write_safetensors(tensors, [&](std::string_view bytes) { file.append(bytes); }, metadata);
  file.commit();
}

StoredTensors open_safetensors(const std::filesystem::path& path) {
  auto file = std::make_shared<const File>(File::open(path));
  auto shard = formats::read_safetensors_header(*file);
  StoredTensors tensors;
  for (auto& entry : shard.header.entries) {
    TensorPlace place{.file = file,
                      .begin = shard.data_begin + entry.begin,
                      .strides = at::IntArrayRef(c10::contiguous_strides(entry.shape)).vec(),
                      .name = entry.name,
                      .misalignment = (shard.data_begin + entry.begin) % 64};
    StoredTensor tensor{.type = scalar_type_of(entry.dtype, path.string()),
                        .shape = std::move(entry.shape),
                        .source = std::move(place)};
    tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return tensors;
}

TensorList load_safetensors(const std::filesystem::path& path) {
  TensorList tensors;
  std::vector<std::pair<at::Tensor, StoredTensor>> destinations;
  for (auto& [name, stored] : open_safetensors(path)) {
    tensors.emplace_back(name, at::empty(stored.shape, at::TensorOptions().dtype(stored.type)));
    destinations.emplace_back(tensors.back().second, std::move(stored));
  }
  copy_all(destinations);
  return tensors;
}

}  // namespace accelerate::tensors
