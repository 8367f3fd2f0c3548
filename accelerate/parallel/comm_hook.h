#pragma once

// Communication hooks: functions that average the gradients of a bucket over the ranks. Contains the hooks of torch's
// ddp_comm_hooks, and the types for custom ones.
//
//   model.register_comm_hook([](accelerate::GradBucket& bucket, const accelerate::comm::Group& group) {
//     auto gradients = bucket.buffer();
//     group.all_reduce(gradients);
//     return gradients.div_(group.size());
//   });

#include <cstddef>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace c10d {
class GradBucket;
}

namespace accelerate::parallel {

/// Gradients of a model that are reduced together. Valid during the call of the hook.
class GradBucket {
 public:
  explicit GradBucket(c10d::GradBucket& bucket) : bucket_(bucket) {}

  /// All gradients of the bucket, flattened and concatenated. May be written to. A sparse gradient has a bucket of its
  /// own; its buffer is the sparse tensor.
  const at::Tensor& buffer() const;

  /// Replaces the buffer for this call. gradients() then returns views of the new one.
  void set_buffer(at::Tensor buffer);

  /// The gradient of each parameter: views of the buffer, in the order of parameters().
  std::vector<at::Tensor> gradients() const;
  std::vector<at::Tensor> parameters() const;

  /// The index of the bucket in this backward. Buckets are rebuilt once, after the first backward.
  size_t index() const;

  /// Whether it is the last bucket of this backward.
  bool is_last() const;

 private:
  c10d::GradBucket& bucket_;
};

/// Returns the gradients of a bucket averaged over the ranks of `group`, in the shape of the buffer: the buffer itself
/// or another tensor, of any floating-point type. Called inside backward as soon as a bucket is full; backward waits
/// for it. All ranks call it for the same buckets in the same order, so it may use any collective of `group`. Runs
/// without autograd. An exception ends backward.
using CommHookFunction = std::function<at::Tensor(GradBucket& bucket, const comm::Group& group)>;

/// Divides by the world size, then all-reduces. The default without a hook.
at::Tensor allreduce_hook(GradBucket& bucket, const comm::Group& group);

/// Casts to half precision, divides and all-reduces, and casts back.
at::Tensor fp16_compress_hook(GradBucket& bucket, const comm::Group& group);
at::Tensor bf16_compress_hook(GradBucket& bucket, const comm::Group& group);

/// Wraps `hook`: it gets the bucket in half precision.
CommHookFunction fp16_compress_wrapper(CommHookFunction hook);
CommHookFunction bf16_compress_wrapper(CommHookFunction hook);

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::allreduce_hook;
using parallel::bf16_compress_hook;
using parallel::bf16_compress_wrapper;
using parallel::CommHookFunction;
using parallel::fp16_compress_hook;
using parallel::fp16_compress_wrapper;
using parallel::GradBucket;
}  // namespace accelerate
