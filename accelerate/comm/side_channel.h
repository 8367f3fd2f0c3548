#pragma once

// A way for a thread beside the loop to talk to its like on other ranks. Collectives are no good for that: all ranks
// have to call them in the same order, which two threads cannot promise. This goes through the job's store instead.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// For short texts. One thread of each rank uses it at a time.
class SideChannel {
 public:
  /// Ranks make their channels in the same order: the first of one talks to the first of the others.
  explicit SideChannel(Group group);

  /// Everyone's bytes, in rank order, when all ranks have called it as often as this one. Throws Error naming the ranks
  /// that have not within the group's timeout.
  std::vector<std::string> all_gather_bytes(const std::string& bytes);

  /// From any thread: whoever waits in all_gather_bytes, now or later, throws Error.
  void close() { closed_ = true; }

 private:
  std::string key(int64_t round, int rank) const;

  Group group_;
  int64_t number_;
  int64_t round_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace accelerate::comm
