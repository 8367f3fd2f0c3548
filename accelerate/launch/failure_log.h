#pragma once

// Which ranks have failed, in the order of their ends, and what they left behind about it.

#include <vector>

#include "accelerate/base/descriptor.h"
#include "accelerate/launch/root_cause.h"
#include "accelerate/launch/supervisor.h"

namespace accelerate::launch {

class FailureLog {
 public:
  /// To be made while the ranks run: the kernel keeps the order of the ends from then on, however late the launcher
  /// gets to look. Keeps a reference to `ranks`.
  explicit FailureLog(const std::vector<Rank>& ranks);

  /// Takes note of the ranks that have failed by now.
  void look();

  /// Whether all of these failed because of another rank, so that the one to blame is not among them yet.
  bool only_victims() const;

  struct Blame {
    size_t index = 0;  // of the rank
    Failure failure = {};
  };
  /// The rank to blame. At least one has failed.
  Blame to_blame() const;

 private:
  void take_ends();

  const std::vector<Rank>& ranks_;
  Descriptor ends_;                  // an epoll instance, which lists ends in their order
  std::vector<Descriptor> handles_;  // of the processes
  std::vector<int> order_;           // of each rank's end; -1 while it is not known
  int next_ = 0;
  std::vector<Blame> failures_;
};

}  // namespace accelerate::launch
