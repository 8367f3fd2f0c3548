#pragma once

// Point-to-point messages. A send is buffered in the heap of the sender and returns at once, so two ranks that send to
// each other before they receive do not deadlock.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/heap.h"

namespace accelerate::shared_memory {

/// One rank's endpoint. One thread may send while another receives.
class Mailbox {
 public:
  static constexpr int kAnyRank = -1;

  Mailbox(GroupMemory memory, int rank, std::shared_ptr<Heap> heap);

  /// Sends `bytes` from `data`. Blocks only while all Control::kMessageSlots slots to that rank hold unread messages.
  /// Throws PeerError if that lasts longer than `limit`, or if the receiver has ended.
  void send(const std::byte* data, size_t bytes, int to, int tag, std::chrono::milliseconds limit);

  /// Receives the oldest message with `tag` from rank `from`, or from any rank, and returns its sender. Throws
  /// PeerError if none arrives within `limit`, or none can arrive any more. A limit of zero polls: nothing is returned
  /// if there is no message. Throws Error if the size of the message is not `bytes`.
  std::optional<int> receive(std::byte* data, size_t bytes, int from, int tag, std::chrono::milliseconds limit);

 private:
  struct Sent {
    MessageSlot* slot;
    size_t offset;
  };

  void check_reader(int to) const;
  MessageSlot* free_slot(int to) const;
  void free_read_messages();
  bool take(std::byte* data, size_t bytes, int from, int tag);
  template <class Ready>
  void wait(SpinWaiter& waiter, std::chrono::milliseconds limit, const std::string& what, Ready ready);

  GroupMemory memory_;
  int rank_;
  std::shared_ptr<Heap> heap_;
  SpinWaiter sending_;
  SpinWaiter receiving_;
  std::vector<uint64_t> num_sent_;  // by receiver
  std::vector<Sent> unread_;
};

}  // namespace accelerate::shared_memory
