#include "accelerate/tensors/safetensors.h"

#include <unordered_map>

#include <ATen/ops/empty.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/formats/safetensors.h"
#include "accelerate/tensors/safetensors_file.h"
#include "accelerate/tensors/safetensors_types.h"

namespace accelerate::tensors {

void write_safetensors(const TensorList& tensors, const Append& append,
                       const std::map<std::string, std::string>& metadata) {
  formats::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::unordered_map<std::string, at::Tensor> by_name;
  for (const auto& [name, tensor] : tensors) {
    if (!by_name.emplace(name, tensor).second) fail("two tensors are called '", name, "'");
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

TensorList load_safetensors(const std::filesystem::path& path) {
  SafetensorsFile file(path);
  TensorList tensors;
  for (const auto& entry : file.entries()) {
    auto tensor = at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
    file.copy_into(entry, tensor);
    tensors.emplace_back(entry.name, tensor);
  }
  return tensors;
}

}  // namespace accelerate::tensors
