#include "accelerate/tensors/files/torch_storage.h"

#include <map>

#include <ATen/ops/empty.h>

#include "accelerate/base/error.h"

namespace accelerate::tensors {

namespace {

/// All bytes of a storage, as a tensor on the CPU. Shares a storage that is already there.
at::Tensor bytes_of(const at::Storage& storage) {
  auto bytes = at::empty({0}, at::TensorOptions().dtype(at::kByte).device(storage.device()));
  bytes.set_(storage, 0, {static_cast<int64_t>(storage.nbytes())}, {1});
  return bytes.to(at::kCPU);
}

/// Numbers storages in the order of their first use.
class StorageTable {
 public:
  explicit StorageTable(std::vector<at::Tensor>& storages) : storages_(storages) {}

  formats::TensorReference reference_to(const at::Tensor& original) {
    if (!original.defined()) fail("an undefined tensor cannot be saved");
    if (original.layout() != at::kStrided || original.is_quantized()) {
      fail("a tensor of layout ", original.layout(), " and type ", original.dtype().name(),
           " cannot be saved; make it dense first");
    }
    auto tensor = original.detach().resolve_conj().resolve_neg();
    const auto& storage = tensor.storage();
    auto [number, is_new] = numbers_.try_emplace(storage.unsafeGetStorageImpl(), storages_.size());
    if (is_new) {
      storages_.push_back(bytes_of(storage));
      alive_.push_back(tensor);
    }
    return {.storage = std::to_string(number->second),
            .storage_bytes = storage.nbytes(),
            .dtype = std::string(c10::getDtypeNames(tensor.scalar_type()).first),
            .offset = tensor.storage_offset(),
            .sizes = tensor.sizes().vec(),
            .strides = tensor.strides().vec(),
            .requires_grad = original.requires_grad()};
  }

 private:
  std::vector<at::Tensor>& storages_;
  std::map<const c10::StorageImpl*, size_t> numbers_;
  std::vector<at::Tensor> alive_;  // otherwise a new storage could reuse the address of a freed one
};

}  // namespace

at::ScalarType torch_type_of(const std::string& dtype) { return c10::getStringToDtypeMap().at(dtype); }

TorchValue with_tensors(const formats::PickleValue& value, const ReadStorage& read) {
  std::map<std::string, at::Tensor> storages;
  return value.map<at::Tensor>([&](const formats::TensorReference& reference) {
    auto [storage, is_new] = storages.try_emplace(reference.storage);
    if (is_new) storage->second = read(reference);
    auto type = torch_type_of(reference.dtype);
    auto tensor = at::empty({0}, at::TensorOptions().dtype(type));
    tensor.set_(storage->second.storage(), reference.offset, reference.sizes, reference.strides);
    bool has_gradients = at::isFloatingType(type) || at::isComplexType(type);
    return tensor.set_requires_grad(reference.requires_grad && has_gradients);
  });
}

Detached without_tensors(const TorchValue& value) {
  Detached result;
  StorageTable table(result.storages);
  result.value =
      value.map<formats::TensorReference>([&](const at::Tensor& tensor) { return table.reference_to(tensor); });
  return result;
}

}  // namespace accelerate::tensors
