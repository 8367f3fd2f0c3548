#include "accelerate/tensors/stored_tensor.h"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/Parallel.h>

#include "accelerate/base/error.h"

namespace accelerate::tensors {

at::Tensor StoredTensor::read() const {
  auto values = at::empty(shape, at::TensorOptions().dtype(type));
  copy_into(values);
  return values;
}

void read_values(const File& file, uint64_t position, at::Tensor& values, const std::string& tensor) {
  auto* bytes = static_cast<char*>(values.mutable_data_ptr());
  constexpr int64_t kPartBytes = int64_t{1} << 20;  // large enough to be worth a thread
  at::parallel_for(0, static_cast<int64_t>(values.nbytes()), kPartBytes,
                   [&](int64_t first, int64_t last) { file.read_at(position + first, bytes + first, last - first); });
  // Another byte than 0 and 1 is no bool in C++, and compilers rely on that.
  if (values.scalar_type() == at::kBool &&
      std::any_of(bytes, bytes + values.nbytes(), [](char byte) { return byte != 0 && byte != 1; })) {
    fail(file.path().string(), ": '", tensor, "' is a tensor of bools, but holds a byte that is neither 0 nor 1");
  }
}

}  // namespace accelerate::tensors
