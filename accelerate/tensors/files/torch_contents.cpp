#include "accelerate/tensors/files/torch_contents.h"

#include <algorithm>
#include <string_view>

#include "accelerate/base/error.h"
#include "accelerate/formats/crc32.h"
#include "accelerate/formats/pickle/pickle.h"
#include "accelerate/formats/zip/reader.h"

namespace accelerate::tensors {

namespace {

constexpr std::string_view kPickle = "/data.pkl";

/// The only folder in the archive. torch names it after the file.
std::string folder_of(const formats::ZipReader& archive, const std::string& source) {
  for (const auto& [name, entry] : archive.entries()) {
    if (name.ends_with(kPickle) && name.find('/') == name.size() - kPickle.size()) {
      return name.substr(0, name.size() - kPickle.size());
    }
  }
  fail(source, ": is a zip file without data.pkl; torch.save did not write it");
}

void verify_entries(const formats::ZipReader& archive, const File& file) {
  for (const auto& [name, entry] : archive.entries()) {
    uint32_t sum = 0;
    file.read_pieces(entry.begin, entry.bytes, [&](std::string_view piece) { sum = formats::crc32(piece, sum); });
    archive.check_sum(name, sum);
  }
}

TorchContents read_archive(const File& file, bool verify) {
  const auto source = file.path().string();
  formats::ZipReader archive(
      [&](uint64_t position, char* destination, size_t bytes) { file.read_at(position, destination, bytes); },
      file.bytes(), source);
  auto folder = folder_of(archive, source);
  if (archive.entries().contains(folder + "/constants.pkl")) {
    fail(source, ": is a TorchScript archive of torch.jit.save or libtorch's torch::save; read it with ",
         "torch::load, or save the weights with torch.save(model.state_dict(), ...) in Python");
  }
  if (auto order = folder + "/byteorder"; archive.entries().contains(order) && archive.read(order) != "little") {
    fail(source,
         ": was written on a machine with another byte order; load and save it in Python on this machine first");
  }
  TorchContents contents{.value = formats::read_pickle(archive.read(folder + std::string(kPickle)), source)};
  if (verify) verify_entries(archive, file);
  const auto prefix = folder + "/data/";
  for (const auto& [name, entry] : archive.entries()) {
    if (name.starts_with(prefix)) contents.storages[name.substr(prefix.size())] = {entry.begin, entry.bytes};
  }
  return contents;
}

/// Throws Error if the storage of a tensor is missing or has another size than the tensor states.
void check_storages(const TorchContents& contents, const std::string& source) {
  contents.value.map<formats::TensorReference>([&](const formats::TensorReference& tensor) {
    const auto place = contents.storages.find(tensor.storage);
    if (place == contents.storages.end()) {
      fail(source, ": has no storage ", tensor.storage, ", which a tensor uses; it is incomplete");
    }
    if (tensor.storage_bytes != place->second.bytes) {
      fail(source, ": the storage ", tensor.storage, " has ", place->second.bytes,
           " bytes, but a tensor in it requires ", tensor.storage_bytes, "; the file is damaged");
    }
    return tensor;
  });
}

}  // namespace

TorchContents read_torch_contents(const File& file, bool verify) {
  std::string start(std::min<uint64_t>(file.bytes(), 2), '\0');
  file.read_at(0, start.data(), start.size());
  auto contents = start == "PK" ? read_archive(file, verify) : read_legacy_contents(file);
  check_storages(contents, file.path().string());
  return contents;
}

}  // namespace accelerate::tensors
