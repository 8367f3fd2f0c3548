#pragma once

// The control block that all ranks of a machine map: barrier counters, one slot per rank, message slots, and the
// failure flag. It starts as zeros. Every member is either written by one rank only or is an atomic counter.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "accelerate/shared_memory/call.h"
#include "accelerate/shared_memory/futex_event.h"

namespace accelerate::shared_memory {

/// What a rank publishes when it arrives at a round. All ranks must pass the same call; the payload may differ.
struct RoundHeader {
  Call call;
  uint64_t payload = 0;
};

/// One rank's slot. Headers are double-buffered: that of round n stays readable during round n + 1. A rank can only
/// reach round n + 2, which overwrites it, after all ranks have arrived at n + 1 and are done with n.
struct alignas(64) RankSlot {
  std::atomic<uint64_t> round = 0;  // the last one that this rank has arrived at
  RoundHeader headers[2];
  alignas(64) FutexEvent messages;  // something was sent to this rank, or one of its own message_slots was read
};

/// A message in flight from one rank to another. Its bytes lie in the heap of the sender.
struct MessageSlot {
  std::atomic<uint32_t> full = 0;  // set by the sender, cleared by the receiver
  int32_t tag = 0;
  uint64_t number = 0;  // sequence number of this sender and receiver
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Why a group can no longer be used. The first reason is kept.
enum class Failure : uint8_t { None, Died, Left, TimedOut };

struct Control {
  static constexpr int kMessageSlots = 16;  // unread messages per pair of ranks before a send blocks

  alignas(64) std::atomic<uint64_t> arrivals = 0;
  alignas(64) std::atomic<uint64_t> completed = 0;  // the last round at which all ranks have arrived
  FutexEvent rounds;
  alignas(64) std::atomic<uint32_t> failure = 0;  // a Failure in the upper half, its rank in the lower
};

/// A view of the control block of `size` ranks at `data`. Cheap to copy.
class ControlView {
 public:
  ControlView(std::byte* data, int size) : data_(data), size_(size) {}

  static size_t bytes(int size) {
    return sizeof(Control) + size * sizeof(RankSlot) +
           size_t(size) * size * Control::kMessageSlots * sizeof(MessageSlot);
  }

  int size() const { return size_; }
  Control* operator->() const { return reinterpret_cast<Control*>(data_); }
  RankSlot& slot(int rank) const { return reinterpret_cast<RankSlot*>(data_ + sizeof(Control))[rank]; }

  /// The kMessageSlots slots for messages from `sender` to `receiver`.
  MessageSlot* message_slots(int sender, int receiver) const {
    auto* all = reinterpret_cast<MessageSlot*>(data_ + sizeof(Control) + size_ * sizeof(RankSlot));
    return all + (size_t(sender) * size_ + receiver) * Control::kMessageSlots;
  }

  /// Records the failure unless there is one already, and wakes all waiting ranks.
  void mark_failed(Failure reason, int rank) const {
    uint32_t none = 0;
    (*this)->failure.compare_exchange_strong(none, static_cast<uint32_t>(reason) << 16 | static_cast<uint32_t>(rank));
    (*this)->rounds.notify();
    for (int other = 0; other < size_; ++other) slot(other).messages.notify();
  }
  Failure reason() const { return static_cast<Failure>((*this)->failure.load() >> 16); }
  int failed_rank() const { return static_cast<int>((*this)->failure.load() & 0xffff); }

 private:
  std::byte* data_;
  int size_;
};

}  // namespace accelerate::shared_memory
