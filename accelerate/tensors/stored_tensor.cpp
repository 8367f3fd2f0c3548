#include "accelerate/tensors/stored_tensor.h"

#include <algorithm>

#include <ATen/EmptyTensor.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "accelerate/base/error.h"
#include "accelerate/base/parallel_for.h"

namespace accelerate::tensors {

namespace {

/// A read of file bytes straight into the memory of a dense tensor.
struct DirectRead {
  const File& file;
  uint64_t position;
  const at::Tensor& values;
  const std::string& name;
  char* bytes = static_cast<char*>(values.mutable_data_ptr());
};

/// A bool other than 0 or 1 is undefined behaviour in C++, and compilers rely on that.
void check_bools(const DirectRead& read) {
  if (read.values.scalar_type() != at::kBool) return;
  if (std::any_of(read.bytes, read.bytes + read.values.nbytes(), [](char byte) { return byte & ~1; })) {
    fail(read.file.path().string(), ": '", read.name,
         "' is a bool tensor, but contains a byte that is neither 0 nor 1");
  }
}

void run(const std::vector<DirectRead>& reads) {
  std::vector<uint64_t> sizes;
  for (const auto& read : reads) sizes.push_back(read.values.nbytes());
  parallel_for_bytes(sizes, [&](size_t index, uint64_t begin, uint64_t end) {
    const auto& read = reads[index];
    read.file.read_at(read.position + begin, read.bytes + begin, end - begin);
  });
  for (const auto& read : reads) check_bools(read);
}

/// Whether the file has the same bytes as the destination's memory will have: same type and layout.
bool same_layout(const at::Tensor& destination, const StoredTensor& stored, const TensorLocation& location) {
  return destination.is_cpu() && destination.scalar_type() == stored.type && destination.sizes() == stored.shape &&
         destination.strides() == location.strides && destination.is_non_overlapping_and_dense();
}

/// Goes through a temporary tensor with the layout of the file.
void copy_converted(const StoredTensor& stored, const TensorLocation& location, const at::Tensor& destination) {
  const auto element_bytes = c10::elementSize(stored.type);
  const auto bytes = at::detail::computeStorageNbytes(stored.shape, location.strides, element_bytes);
  auto values = at::empty({static_cast<int64_t>(bytes / element_bytes)}, at::TensorOptions().dtype(stored.type));
  read_values(*location.file, location.begin, values, location.name);
  destination.copy_(values.as_strided(stored.shape, location.strides));
}

}  // namespace

void copy_all(const std::vector<std::pair<at::Tensor, StoredTensor>>& destinations) {
  std::vector<DirectRead> reads;
  for (const auto& [destination, stored] : destinations) {
    const auto* location = std::get_if<TensorLocation>(&stored.source);
    if (!location) {
      destination.copy_(std::get<at::Tensor>(stored.source));
    } else if (same_layout(destination, stored, *location)) {
      reads.push_back({*location->file, location->begin, destination, location->name});
    } else {
      copy_converted(stored, *location, destination);
    }
  }
  run(reads);
}

void StoredTensor::copy_into(const at::Tensor& destination) const { copy_all({{destination, *this}}); }

at::Tensor StoredTensor::read() const {
  auto values = at::empty(shape, at::TensorOptions().dtype(type));
  copy_into(values);
  return values;
}

at::Tensor StoredTensor::empty() const {
  const auto options = at::TensorOptions().dtype(type);
  const auto* location = std::get_if<TensorLocation>(&source);
  if (!location || location->misalignment == 0 || location->misalignment % c10::elementSize(type) != 0) {
    return at::empty(shape, options);
  }
  const auto bytes = static_cast<int64_t>(at::detail::computeStorageNbytesContiguous(shape, c10::elementSize(type)));
  auto memory = at::empty({bytes + static_cast<int64_t>(location->misalignment)}, at::kByte);  // aligned to 64 bytes
  auto* begin = memory.mutable_data_ptr<uint8_t>() + location->misalignment;
  return at::from_blob(begin, shape, [memory](void*) {}, options);
}

void read_values(const File& file, uint64_t position, const at::Tensor& values, const std::string& tensor) {
  run({{file, position, values, tensor}});
}

}  // namespace accelerate::tensors
