#pragma once

// The ranks of one machine, connected through shared memory.

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/exchange_segments.h"
#include "accelerate/shared_memory/heap.h"
#include "accelerate/shared_memory/mailbox.h"
#include "accelerate/shared_memory/peer_watch.h"

namespace accelerate::shared_memory {

/// One rank's side of a group. If the process of a peer ends, the group fails within milliseconds. Destroying this
/// object also fails the group for peers that still wait for this rank.
class LocalGroup {
 public:
  /// The memory that a group of `size` ranks needs.
  static ExchangeOptions exchange_options(int size, std::chrono::milliseconds timeout);

  /// Ranks are numbered by their index in `segments`; messages show their numbers in the job. `core_sharers` is the
  /// number of ranks that share the cores of this one, itself included; all if not given.
  LocalGroup(ExchangedSegments segments, std::chrono::milliseconds timeout,
             std::optional<int> core_sharers = std::nullopt);

  Channel& channel() { return channel_; }
  Mailbox& mailbox() { return mailbox_; }

  /// Allocates blocks that peers access in place. The heap may outlive the group.
  const std::shared_ptr<Heap>& heap() const { return heap_; }

 private:
  GroupMemory memory() const;

  std::vector<int> ranks_;
  bool core_for_each_;
  std::shared_ptr<Segment> control_;
  std::vector<std::shared_ptr<Segment>> segments_;
  std::shared_ptr<Heap> heap_;
  Channel channel_;
  Mailbox mailbox_;
  PeerWatch watch_;
};

}  // namespace accelerate::shared_memory
