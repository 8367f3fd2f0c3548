#include "accelerate/tensors/safetensors.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_map>

#include <ATen/ops/empty.h>
#include <unistd.h>

#include "accelerate/base/error.h"
#include "accelerate/formats/safetensors.h"

namespace accelerate::tensors {

namespace {

constexpr std::array<std::pair<at::ScalarType, std::string_view>, 13> kTypes = {{{at::kFloat, "F32"},
                                                                                 {at::kHalf, "F16"},
                                                                                 {at::kBFloat16, "BF16"},
                                                                                 {at::kDouble, "F64"},
                                                                                 {at::kLong, "I64"},
                                                                                 {at::kInt, "I32"},
                                                                                 {at::kShort, "I16"},
                                                                                 {at::kChar, "I8"},
                                                                                 {at::kByte, "U8"},
                                                                                 {at::kBool, "BOOL"},
                                                                                 {at::kComplexFloat, "C64"},
                                                                                 {at::kFloat8_e4m3fn, "F8_E4M3"},
                                                                                 {at::kFloat8_e5m2, "F8_E5M2"}}};

std::string_view name_of(at::ScalarType type, const std::string& tensor) {
  for (const auto& [scalar_type, name] : kTypes) {
    if (scalar_type == type) return name;
  }
  fail("safetensors: '", tensor, "' has the type ", c10::toString(type), ", which the format does not have");
}

at::ScalarType type_of(std::string_view dtype, const std::string& source) {
  for (const auto& [scalar_type, name] : kTypes) {
    if (name == dtype) return scalar_type;
  }
  fail(source, ": tensors of type ", dtype, " cannot be held by libtorch");
}

}  // namespace

void save_safetensors(const TensorList& tensors, const std::filesystem::path& path,
                      const std::map<std::string, std::string>& metadata) {
  formats::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::unordered_map<std::string, at::Tensor> by_name;
  for (const auto& [name, tensor] : tensors) {
    if (!by_name.emplace(name, tensor).second) fail(path.string(), ": two tensors are called '", name, "'");
    header.entries.push_back(
        {.name = name, .dtype = std::string(name_of(tensor.scalar_type(), name)), .shape = tensor.sizes().vec()});
  }
  formats::layout_safetensors(header.entries);

  auto partial = path;
  partial += ".part" + std::to_string(getpid());
  std::ofstream file(partial, std::ios::binary);
  auto bytes = formats::encode_safetensors_header(header);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (const auto& entry : header.entries) {
    auto plain = by_name.at(entry.name).detach().to(at::kCPU).contiguous();
    file.write(static_cast<const char*>(plain.const_data_ptr()), static_cast<std::streamsize>(plain.nbytes()));
  }
  file.close();
  if (!file) {
    int error = errno;
    std::filesystem::remove(partial);
    fail("cannot write ", path.string(), ": ", std::strerror(error));
  }
  std::filesystem::rename(partial, path);
}

TensorList load_safetensors(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read ", path.string(), ": ", std::strerror(errno));
  auto file_bytes = std::filesystem::file_size(path);
  std::string prefix(std::min<uint64_t>(file_bytes, 8), '\0');
  file.read(prefix.data(), static_cast<std::streamsize>(prefix.size()));
  auto header_bytes = formats::safetensors_header_bytes(prefix, file_bytes, path.string());
  prefix.resize(8 + header_bytes);
  file.read(prefix.data() + 8, static_cast<std::streamsize>(header_bytes));

  TensorList tensors;
  for (const auto& entry : formats::decode_safetensors_header(prefix, file_bytes, path.string()).entries) {
    auto tensor = at::empty(entry.shape, at::TensorOptions().dtype(type_of(entry.dtype, path.string())));
    file.read(static_cast<char*>(tensor.mutable_data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    tensors.emplace_back(entry.name, tensor);
  }
  if (!file) fail(path.string(), ": it ended while it was being read");
  return tensors;
}

}  // namespace accelerate::tensors
