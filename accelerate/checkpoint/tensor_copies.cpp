#include "accelerate/checkpoint/tensor_copies.h"

#include <cstdint>
#include <cstring>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "accelerate/base/parallel_for.h"

namespace accelerate::checkpoint {

namespace {

/// Whether the tensor can be copied with memcpy.
bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() &&
         !tensor.is_neg();
}

struct Bytes {
  char* to;
  const char* from;
};

}  // namespace

void TensorCopies::begin() {
  next_ = 0;
  waiting_.clear();
}

at::Tensor TensorCopies::copy_of(const at::Tensor& tensor) {
  if (next_ == copies_.size()) copies_.emplace_back();
  auto& copy = copies_[next_++];
  bool fits = copy.defined() && copy.scalar_type() == tensor.scalar_type() && copy.sizes() == tensor.sizes();
  if (!fits) copy = at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
  waiting_.emplace_back(copy, tensor);
  return copy;
}

void TensorCopies::finish() {
  at::NoGradGuard no_grad;
  std::vector<Bytes> plain;
  std::vector<uint64_t> sizes;
  for (const auto& [copy, tensor] : waiting_) {
    if (is_plain(tensor)) {
      plain.push_back({static_cast<char*>(copy.mutable_data_ptr()), static_cast<const char*>(tensor.const_data_ptr())});
      sizes.push_back(tensor.nbytes());
    } else {
      copy.copy_(tensor);
    }
  }
  parallel_for_bytes(sizes, [&](size_t index, uint64_t begin, uint64_t end) {
    std::memcpy(plain[index].to + begin, plain[index].from + begin, end - begin);
  });
  waiting_.clear();
}

}  // namespace accelerate::checkpoint
