#include "accelerate/tensors/archive.h"

#include <ATen/ops/empty.h>

namespace accelerate::tensors {

void ArchiveWriter::write_tensor(const at::Tensor& tensor) {
  write(tensor.defined());
  if (!tensor.defined()) return;
  // Bytes go through host memory: the tensor is on the CPU when it is read.
  auto plain = tensor.detach().to(at::kCPU).contiguous();
  write(static_cast<int8_t>(plain.scalar_type()));
  write(plain.sizes().vec());
  write_bytes(plain.const_data_ptr(), plain.nbytes());
}

void ArchiveReader::read_bytes(void* data, size_t size) {
  if (size > bytes_.size()) {
    fail("an object from another rank is truncated: ", size, " bytes wanted, ", bytes_.size(),
         " left; do all ranks send the same type?");
  }
  std::memcpy(data, bytes_.data(), size);
  bytes_.remove_prefix(size);
}

at::Tensor ArchiveReader::read_tensor() {
  bool defined = false;
  read(defined);
  if (!defined) return {};
  int8_t type = 0;
  std::vector<int64_t> sizes;
  read(type);
  read(sizes);
  auto tensor = at::empty(sizes, at::TensorOptions().dtype(static_cast<at::ScalarType>(type)));
  read_bytes(tensor.mutable_data_ptr(), tensor.nbytes());
  return tensor;
}

}  // namespace accelerate::tensors
