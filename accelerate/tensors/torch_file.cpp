#include "accelerate/tensors/torch_file.h"

#include <ATen/ops/empty.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/formats/pickle_reader.h"
#include "accelerate/formats/pickle_writer.h"
#include "accelerate/formats/zip_reader.h"
#include "accelerate/formats/zip_writer.h"
#include "accelerate/tensors/legacy_torch_file.h"
#include "accelerate/tensors/torch_storage.h"

namespace accelerate::tensors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPickle = "/data.pkl";

/// The one folder in the archive; torch gives it the name that the file had.
std::string folder_of(const formats::ZipReader& archive, const std::string& source) {
  for (const auto& [name, entry] : archive.entries()) {
    if (name.ends_with(kPickle) && name.find('/') == name.size() - kPickle.size()) {
      return name.substr(0, name.size() - kPickle.size());
    }
  }
  fail(source, ": is a zip file without data.pkl; torch.save did not write it");
}

TorchValue load_archive(const File& file) {
  const auto source = file.path().string();
  formats::ZipReader archive(
      [&](uint64_t position, char* destination, size_t bytes) { file.read_at(position, destination, bytes); },
      file.bytes(), source);
  auto folder = folder_of(archive, source);
  if (auto order = folder + "/byteorder"; archive.entries().contains(order) && archive.read(order) != "little") {
    fail(source, ": was written on a machine with another byte order; load and save it in Python on this one first");
  }
  auto value = formats::read_pickle(archive.read(folder + std::string(kPickle)), source);
  return with_tensors(value, source, [&](const formats::TensorReference& tensor) {
    auto name = folder + "/data/" + tensor.storage;
    check_storage_bytes(tensor, archive.at(name).bytes, source);
    auto bytes = at::empty({static_cast<int64_t>(tensor.storage_bytes)}, at::TensorOptions().dtype(at::kByte));
    archive.read(name, static_cast<char*>(bytes.mutable_data_ptr()));
    return bytes;
  });
}

}  // namespace

TorchValue load_torch_file(const fs::path& path) {
  auto file = File::open(path);
  std::string start(std::min<uint64_t>(file.bytes(), 2), '\0');
  file.read_at(0, start.data(), start.size());
  if (start == "PK") return load_archive(file);
  return load_legacy_torch_file(file);
}

void save_torch_file(const TorchValue& value, const fs::path& path) {
  auto [pickle, storages] = without_tensors(value);
  AtomicFile file(path);
  formats::ZipWriter archive([&](std::string_view bytes) { file.append(bytes); });
  auto add = [&, folder = path.stem().string()](const std::string& name, std::string_view bytes) {
    archive.add(folder + "/" + name, bytes);
  };
  add("data.pkl", formats::write_pickle(pickle));
  add(".format_version", "1");
  add(".storage_alignment", "64");
  add("byteorder", "little");
  for (size_t i = 0; i < storages.size(); ++i) {
    add("data/" + std::to_string(i), {static_cast<const char*>(storages[i].const_data_ptr()), storages[i].nbytes()});
  }
  add("version", "3\n");
  archive.finish();
  file.commit();
}

}  // namespace accelerate::tensors
