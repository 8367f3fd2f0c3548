#pragma once

// What else there is to know of a reduction, for those who do not call it themselves: libtorch's Reducer does.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

class SharedMemoryBackend;

/// Follows the reductions of one tensor over all ranks, for as long as it exists. For ranks that share the memory of
/// one machine: others can make one, which is never told anything.
class ReductionWatch {
 public:
  struct Options {
    /// Called in the thread of a reduction when it is done, on this rank and all others; it may not call collectives.
    /// With `sum_squares` it gets the sum of the squares of the results, of float32 and float64: the same number on all
    /// ranks that get one. Where another rank did not ask for it, it may get none; which is for ranks to agree on.
    std::function<void(std::optional<double> squares)> on_reduced;
    bool sum_squares = false;
  };

  ReductionWatch(const Group& group, const at::Tensor& tensor, Options options);
  ReductionWatch(ReductionWatch&&) = default;
  ReductionWatch& operator=(ReductionWatch&&) = delete;
  ~ReductionWatch();

  /// Whether the ranks of a group can follow reductions. The same on all of them.
  static bool possible(const Group& group);

  /// Whether `tensor` lies in memory that these ranks share, so that it is reduced where it is.
  static bool lies_in_shared_memory(const Group& group, const at::Tensor& tensor);

 private:
  std::shared_ptr<SharedMemoryBackend> backend_;
  int64_t number_ = 0;
};

}  // namespace accelerate::comm
