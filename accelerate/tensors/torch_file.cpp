#include "accelerate/tensors/torch_file.h"

#include <memory>

#include <ATen/ops/empty.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/formats/pickle/pickle.h"
#include "accelerate/formats/zip/writer.h"
#include "accelerate/tensors/files/torch_contents.h"
#include "accelerate/tensors/files/torch_storage.h"

namespace accelerate::tensors {

namespace {

namespace fs = std::filesystem;

/// The location of a tensor whose storage is at `storage`.
TensorLocation location_of(const std::shared_ptr<const File>& file, const formats::TensorReference& tensor,
                           const StorageLocation& storage) {
  const auto offset = static_cast<uint64_t>(tensor.offset) * c10::elementSize(torch_type_of(tensor.dtype));
  return {
      .file = file, .begin = storage.begin + offset, .strides = tensor.strides, .name = "storage " + tensor.storage};
}

}  // namespace

TorchValue load_torch_file(const fs::path& path) {
  auto file = File::open(path);
  auto contents = read_torch_contents(file, /*verify=*/true);
  return with_tensors(contents.value, [&](const formats::TensorReference& tensor) {
    auto bytes = at::empty({static_cast<int64_t>(tensor.storage_bytes)}, at::TensorOptions().dtype(at::kByte));
    read_values(file, contents.storages.at(tensor.storage).begin, bytes, "storage " + tensor.storage);
    return bytes;
  });
}

StoredValue stored(const TorchValue& value) {
  return value.map<StoredTensor>([](const at::Tensor& tensor) -> StoredTensor {
    return {.type = tensor.scalar_type(), .shape = tensor.sizes().vec(), .source = tensor};
  });
}

StoredValue open_torch_file(const fs::path& path, const OpenTorchFileOptions& options) {
  auto file = std::make_shared<const File>(File::open(path));
  auto contents = read_torch_contents(*file, options.verify);
  return contents.value.map<StoredTensor>([&](const formats::TensorReference& tensor) -> StoredTensor {
    return {.type = torch_type_of(tensor.dtype),
            .shape = tensor.sizes,
            .source = location_of(file, tensor, contents.storages.at(tensor.storage))};
  });
}

void write_torch_file(const TorchValue& value, const std::string& folder, const Append& append) {
  auto [pickle, storages] = without_tensors(value);
  formats::ZipWriter archive(append);
  auto add = [&](const std::string& name, std::string_view bytes) { archive.add(folder + "/" + name, bytes); };
  add("data.pkl", formats::write_pickle(pickle));
  add(".format_version", "1");
  add(".storage_alignment", "64");
  add("byteorder", "little");
  for (size_t i = 0; i < storages.size(); ++i) {
    add("data/" + std::to_string(i), {static_cast<const char*>(storages[i].const_data_ptr()), storages[i].nbytes()});
  }
  add("version", "3\n");
  archive.finish();
}

void save_torch_file(const TorchValue& value, const fs::path& path) {
  AtomicFile file(path);
  write_torch_file(value, path.stem().string(), [&](std::string_view bytes) { file.append(bytes); });
  file.commit();
}

}  // namespace accelerate::tensors
