#include "accelerate/tensors/legacy_torch_file.h"

#include <algorithm>
#include <map>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle_reader.h"

namespace accelerate::tensors {

namespace {

using formats::PickleValue;
using formats::TensorReference;

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
constexpr int64_t kProtocolVersion = 1001;

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

/// Two numbers that say what kind of file this is, and a note about the machine that wrote it.
void check_start(Pickles& pickles, const std::string& source) {
  static const formats::BigInteger kMagic{"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"};
  PickleValue first;
  try {
    first = pickles.next();
  } catch (const Error&) {
    fail(source, ": torch.save did not write this file");
  }
  if (first != PickleValue(kMagic) || pickles.next() != PickleValue(kProtocolVersion)) {
    fail(source, ": this is a pickle, but none that torch.save wrote");
  }
  if (!pickles.next().at("little_endian").boolean()) {
    fail(source, ": was written on a machine with another byte order; load and save it in Python on this one first");
  }
}

std::map<std::string, TensorReference> tensors_by_storage(const PickleValue& value) {
  std::map<std::string, TensorReference> tensors;
  value.map<TensorReference>([&](const TensorReference& tensor) {
    tensors.emplace(tensor.storage, tensor);
    return tensor;
  });
  return tensors;
}

/// Where each storage begins. Before its bytes stands the number of its elements.
std::map<std::string, StoragePlace> find_storages(const File& file, uint64_t position, const PickleValue& keys,
                                                  const std::map<std::string, TensorReference>& tensors) {
  const auto source = file.path().string();
  std::map<std::string, StoragePlace> places;
  for (const auto& key : keys.items()) {
    auto tensor = tensors.find(key.text());
    if (tensor == tensors.end()) fail(source, ": has the storage ", key.text(), ", which no tensor lies in");
    uint64_t elements = 0, bytes = 0;
    file.read_at(position, reinterpret_cast<char*>(&elements), sizeof(elements));
    const auto* type = formats::pickle_type_of(tensor->second.dtype);
    if (__builtin_mul_overflow(elements, type->storage.empty() ? 1 : type->bytes, &bytes)) bytes = UINT64_MAX;
    position += sizeof(elements);
    if (bytes > file.bytes() - std::min(position, file.bytes()))
      fail(source, ": is cut off in the storage ", key.text());
    places[key.text()] = {position, bytes};
    position += bytes;
  }
  if (position != file.bytes()) fail(source, ": has ", file.bytes() - position, " bytes behind its last storage");
  return places;
}

}  // namespace

TorchContents read_legacy_contents(const File& file) {
  Pickles pickles(file);
  check_start(pickles, file.path().string());
  auto value = pickles.next();
  auto keys = pickles.next();
  auto storages = find_storages(file, pickles.position(), keys, tensors_by_storage(value));
  return {.value = std::move(value), .storages = std::move(storages)};
}

}  // namespace accelerate::tensors
