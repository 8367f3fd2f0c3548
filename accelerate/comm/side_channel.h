#pragma once

// Lets a background thread exchange short messages with its counterparts on other ranks, through the job's store. It
// cannot use collectives: all ranks must call them in the same order, which two threads cannot guarantee.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// For short messages. One thread of each rank uses it at a time.
class SideChannel {
 public:
  /// Ranks must create their channels in the same order: channels with the same index are connected.
  explicit SideChannel(Group group);

  /// Returns the bytes of all ranks, in rank order, when all ranks have called it in this round. Throws Error naming
  /// the first missing rank after the group's timeout.
  std::vector<std::string> all_gather_bytes(const std::string& bytes);

  /// Makes waits in all_gather_bytes throw Error, now and later. Any thread may call it.
  void close() { closed_ = true; }

 private:
  std::string key(int64_t round, int rank) const;

  Group group_;
  int64_t number_;
  int64_t round_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace accelerate::comm
