#include "accelerate/tensors/safetensors.h"

#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <ATen/ops/empty.h>
#include <c10/util/strides.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/formats/safetensors/files.h"
#include "accelerate/formats/safetensors/header.h"

namespace accelerate::tensors {

namespace {

constexpr auto kTypes = std::to_array<std::pair<at::ScalarType, std::string_view>>({
    {at::kFloat, "F32"},
    {at::kHalf, "F16"},
    {at::kBFloat16, "BF16"},
    {at::kDouble, "F64"},
    {at::kLong, "I64"},
    {at::kInt, "I32"},
    {at::kShort, "I16"},
    {at::kChar, "I8"},
    {at::kByte, "U8"},
    {at::kUInt16, "U16"},
    {at::kUInt32, "U32"},
    {at::kUInt64, "U64"},
    {at::kBool, "BOOL"},
    {at::kComplexFloat, "C64"},
    {at::kFloat8_e4m3fn, "F8_E4M3"},
    {at::kFloat8_e5m2, "F8_E5M2"},
    {at::kFloat8_e8m0fnu, "F8_E8M0"},
    {at::kFloat8_e4m3fnuz, "F8_E4M3FNUZ"},
    {at::kFloat8_e5m2fnuz, "F8_E5M2FNUZ"},
});

/// Returns "F32" for float and so on. Throws Error naming `tensor` for a type that the format does not have.
std::string_view safetensors_name_of(at::ScalarType type, const std::string& tensor) {
  for (const auto& [scalar_type, name] : kTypes) {
    if (scalar_type == type) return name;
  }
  fail("safetensors: '", tensor, "' has the type ", c10::toString(type), ", which the format does not support");
}

/// Returns the type called "F32" and so on. Throws Error naming `source` for a type that libtorch does not have.
at::ScalarType scalar_type_of(std::string_view dtype, const std::string& source) {
  for (const auto& [scalar_type, name] : kTypes) {
    if (name == dtype) return scalar_type;
  }
  fail(source, ": tensors of type ", dtype, " are not supported by libtorch");
}

}  // namespace

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
    TensorLocation location{.file = file,
                            .begin = shard.data_begin + entry.begin,
                            .strides = at::IntArrayRef(c10::contiguous_strides(entry.shape)).vec(),
                            .name = entry.name,
                            .misalignment = (shard.data_begin + entry.begin) % 64};
    StoredTensor tensor{.type = scalar_type_of(entry.dtype, path.string()),
                        .shape = std::move(entry.shape),
                        .source = std::move(location)};
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
