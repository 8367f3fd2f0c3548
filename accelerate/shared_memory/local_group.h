#pragma once

// The ranks of one machine, connected by the memory they have exchanged.

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/heap.h"
#include "accelerate/shared_memory/mailbox.h"
#include "accelerate/shared_memory/meeting.h"
#include "accelerate/shared_memory/peer_watch.h"

namespace accelerate::shared_memory {

/// One rank's side of a group. The end of a peer's process breaks the group within milliseconds; destroying this object
/// does so too, as far as peers still wait for this rank.
class LocalGroup {
 public:
  /// What ranks need to meet as a group of `size`.
  static MeetingOptions meeting_options(int size, std::chrono::milliseconds timeout);

  /// Ranks are counted in the group by their place among those that have met; messages name them as the job does.
  /// `core_sharers` of them run on the cores of this one, itself included; all where it is not known.
  LocalGroup(Meeting meeting, std::chrono::milliseconds timeout, std::optional<int> core_sharers = std::nullopt);

  Channel& channel() { return channel_; }
  Mailbox& mailbox() { return mailbox_; }

  /// Blocks that peers reach without a copy. They may outlive the group, together with the heap.
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
