// Reads the format of torch.save before torch 1.6.

#include "accelerate/tensors/files/torch_contents.h"

#include <algorithm>
#include <map>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle/pickle.h"

namespace accelerate::tensors {

namespace {

using formats::PickleValue;
using formats::TensorReference;

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
constexpr int64_t kProtocolVersion = 1001;
constexpr const char* kRemedy = "load it in the program that wrote it, and save its weights with torch.save in Python";

/// The pickles at the start of the file.
class Pickles {
 public:
  explicit Pickles(const File& file)
      : source_(file.path().string()), bytes_(std::min(file.bytes(), kMaxPickleBytes), '\0') {
    file.read_at(0, bytes_.data(), bytes_.size());
  }

  PickleValue next() {
    size_t length = 0;
    auto value = formats::read_pickle(std::string_view(bytes_).substr(position_), source_, &length);
    position_ += length;
    return value;
  }

  uint64_t position() const { return position_; }

 private:
  std::string source_;
  std::string bytes_;
  size_t position_ = 0;
};

/// Returns read(). Adds the file name to an Error about the kind of a value.
auto read_or_refuse(const std::string& source, const auto& read) {
  try {
    return read();
  } catch (const Error& error) {
    fail(source, ": is damaged: ", error.what());
  }
}

/// Checks the magic number, the protocol version and the byte order.
void check_start(Pickles& pickles, const std::string& source) {
  static const formats::BigInteger kMagic{"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"};
  PickleValue first;
  try {
    first = pickles.next();
  } catch (const Error&) {
    fail(source, ": torch.save did not write this file, or it is damaged; ", kRemedy);
  }
  if (first != PickleValue(kMagic) || pickles.next() != PickleValue(kProtocolVersion)) {
    fail(source, ": this is a pickle, but torch.save did not write it; ", kRemedy);
  }
  const auto machine = pickles.next();
  if (!read_or_refuse(source, [&] { return machine.at("little_endian").boolean(); })) {
    fail(source,
         ": was written on a machine with another byte order; load and save it in Python on this machine first");
  }
}

/// The names of the storages, in file order.
std::vector<std::string> storage_names(const PickleValue& keys, const std::string& source) {
  return read_or_refuse(source, [&] {
    std::vector<std::string> names;
    for (const auto& key : keys.items()) names.push_back(key.text());
    return names;
  });
}

std::map<std::string, TensorReference> tensors_by_storage(const PickleValue& value) {
  std::map<std::string, TensorReference> tensors;
  value.map<TensorReference>([&](const TensorReference& tensor) {
    tensors.emplace(tensor.storage, tensor);
    return tensor;
  });
  return tensors;
}

/// Locates the storages. Each is preceded by its number of elements.
std::map<std::string, StorageLocation> find_storages(const File& file, uint64_t position,
                                                     const std::vector<std::string>& names,
                                                     const std::map<std::string, TensorReference>& tensors) {
  const auto source = file.path().string();
  std::map<std::string, StorageLocation> locations;
  for (const auto& name : names) {
    auto tensor = tensors.find(name);
    if (tensor == tensors.end()) fail(source, ": has the storage ", name, ", which no tensor uses");
    uint64_t elements = 0, bytes = 0;
    file.read_at(position, reinterpret_cast<char*>(&elements), sizeof(elements));
    const auto* type = formats::pickle_type_of(tensor->second.dtype);
    if (__builtin_mul_overflow(elements, type->storage.empty() ? 1 : type->bytes, &bytes)) bytes = UINT64_MAX;
    position += sizeof(elements);
    if (bytes > file.bytes() - std::min(position, file.bytes())) fail(source, ": is truncated in the storage ", name);
    locations[name] = {position, bytes};
    position += bytes;
  }
  if (position != file.bytes()) fail(source, ": has ", file.bytes() - position, " bytes after its last storage");
  return locations;
}

}  // namespace

TorchContents read_legacy_contents(const File& file) {
  Pickles pickles(file);
  check_start(pickles, file.path().string());
  auto value = pickles.next();
  auto names = storage_names(pickles.next(), file.path().string());
  auto storages = find_storages(file, pickles.position(), names, tensors_by_storage(value));
  return {.value = std::move(value), .storages = std::move(storages)};
}

}  // namespace accelerate::tensors
