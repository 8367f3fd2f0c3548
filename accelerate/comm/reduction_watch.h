#pragma once

// Observes all-reduces issued by libtorch's Reducer: a completion callback and, optionally, the sum of squares of the
// result.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

class SharedMemoryBackend;

/// Observes the all-reduces of one tensor during its lifetime. Requires that all ranks use shared memory on one
/// machine; otherwise the callback is never called.
class ReductionWatch {
 public:
  struct Options {
    /// Called in the thread of the reduction when it has finished on all ranks. Must not call collectives. With
    /// `sum_squares` it gets the sum of squares of a float32 or float64 result, the same number on all ranks that get
    /// one. It may get none if another rank did not ask for it, so ranks should agree.
    std::function<void(std::optional<double> squares)> on_reduced;
    bool sum_squares = false;
  };

  ReductionWatch(const Group& group, const at::Tensor& tensor, Options options);
  ReductionWatch(ReductionWatch&&) = default;
  ReductionWatch& operator=(ReductionWatch&&) = delete;
  ~ReductionWatch();

  /// Whether reductions of a group can be observed. The same on all ranks.
  static bool possible(const Group& group);

  /// Whether `tensor` is in the shared memory of the group, so that it is reduced in place.
  static bool lies_in_shared_memory(const Group& group, const at::Tensor& tensor);

 private:
  std::shared_ptr<SharedMemoryBackend> backend_;
  int64_t number_ = 0;
};

}  // namespace accelerate::comm
