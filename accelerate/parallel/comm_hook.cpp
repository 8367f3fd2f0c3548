#include "accelerate/parallel/comm_hook.h"

#include <utility>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/comm.hpp>

namespace accelerate::parallel {

namespace {

at::Tensor average_in(at::ScalarType type, GradBucket& bucket, const comm::Group& group) {
  auto gradients = bucket.buffer();
  auto compressed = gradients.to(type).div_(group.size());
  group.all_reduce(compressed);
  return gradients.copy_(compressed);
}

CommHookFunction wrapped_in(at::ScalarType type, CommHookFunction hook) {
  return [type, hook = std::move(hook)](GradBucket& bucket, const comm::Group& group) {
    bucket.set_buffer(bucket.buffer().to(type));
    auto reduced = hook(bucket, group);
    return reduced.defined() ? reduced.to(type) : reduced;
  };
}

}  // namespace

const at::Tensor& GradBucket::buffer() const { return bucket_.getBuffer(); }
void GradBucket::set_buffer(at::Tensor buffer) { bucket_.setBuffer(buffer); }
std::vector<at::Tensor> GradBucket::gradients() const { return bucket_.getGradients(); }
std::vector<at::Tensor> GradBucket::parameters() const { return bucket_.getParameters(); }
size_t GradBucket::index() const { return bucket_.getIndex(); }
bool GradBucket::is_last() const { return bucket_.isLast(); }

at::Tensor allreduce_hook(GradBucket& bucket, const comm::Group& group) {
  auto gradients = bucket.buffer();
  // Divides first, so that sums in half precision do not overflow.
  gradients.div_(group.size());
  group.all_reduce(gradients);
  return gradients;
}

at::Tensor fp16_compress_hook(GradBucket& bucket, const comm::Group& group) {
  return average_in(at::kHalf, bucket, group);
}

at::Tensor bf16_compress_hook(GradBucket& bucket, const comm::Group& group) {
  return average_in(at::kBFloat16, bucket, group);
}

CommHookFunction fp16_compress_wrapper(CommHookFunction hook) { return wrapped_in(at::kHalf, std::move(hook)); }
CommHookFunction bf16_compress_wrapper(CommHookFunction hook) { return wrapped_in(at::kBFloat16, std::move(hook)); }

}  // namespace accelerate::parallel
