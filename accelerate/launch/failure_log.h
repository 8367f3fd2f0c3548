#pragma once

// Records which ranks have failed, in which order they ended, and what they reported.

#include <vector>

#include "accelerate/base/descriptor.h"
#include "accelerate/launch/supervisor.h"
#include "accelerate/process/root_cause.h"

namespace accelerate::launch {

class FailureLog {
 public:
  /// Construct it while the ranks run: from then on the kernel records the order in which they end, however late the
  /// launcher looks. Keeps a reference to `ranks`.
  explicit FailureLog(const std::vector<Rank>& ranks);

  /// Records the ranks that have failed since the last call.
  void look();

  /// Whether all failed ranks are victims, so that the root cause is not among them yet.
  bool only_victims() const;

  struct FailedRank {
    size_t index = 0;
    process::Evidence evidence = {};
  };
  /// At least one rank must have failed.
  FailedRank root_cause() const;

 private:
  void take_ends();

  const std::vector<Rank>& ranks_;
  Descriptor ends_;                  // an epoll instance, which reports ends in order
  std::vector<Descriptor> handles_;  // pidfds of the ranks
  std::vector<int> order_;           // position of each rank in the order of ends; -1 if unknown
  int next_ = 0;
  std::vector<FailedRank> failures_;
};

}  // namespace accelerate::launch
