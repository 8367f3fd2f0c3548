#include "accelerate/shared_memory/mailbox.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

namespace accelerate::shared_memory {

namespace {

// The receiver releases the pages of a message of at least this size at once. A smaller one stays allocated until the
// sender sends again, which saves the receiver a system call.
constexpr size_t kLargeMessage = 64 * 1024;

}  // namespace

Mailbox::Mailbox(GroupMemory memory, int rank, std::shared_ptr<Heap> heap)
    : memory_(std::move(memory)),
      rank_(rank),
      heap_(std::move(heap)),
      sending_(memory_.core_for_each),
      receiving_(memory_.core_for_each),
      num_sent_(memory_.control.size()) {}

template <class Ready>
void Mailbox::wait(SpinWaiter& waiter, std::chrono::milliseconds limit, const std::string& what, Ready ready) {
  auto& control = memory_.control;
  auto broken = [&] { return control.reason() != Failure::None; };
  bool done = false;
  auto look = [&] { return done = ready(); };
  waiter.wait(control.slot(rank_).messages, Clock::now() + limit, [&] { return look() || broken(); });
  // Check again: a rank may send its message and then end. That fails the group, but the message is valid.
  if (done || look()) return;
  if (broken()) throw PeerError(describe_failure(memory_) + " (" + what + ", through shared memory)");
  throw PeerError("the other rank did not take part (" + what + ", through shared memory)");
}

/// Throws PeerError if `to` has ended or the group has timed out. If another rank has ended, the remaining ranks can
/// still send to each other.
void Mailbox::check_reader(int to) const {
  auto reason = memory_.control.reason();
  if (reason == Failure::None) return;
  if (reason != Failure::TimedOut && memory_.control.failed_rank() != to) return;
  throw PeerError(describe_failure(memory_) + ", so nothing can be sent to rank " + memory_.name_of(to));
}

MessageSlot* Mailbox::free_slot(int to) const {
  auto* message_slots = memory_.control.message_slots(rank_, to);
  auto* end = message_slots + Control::kMessageSlots;
  auto* free = std::find_if(message_slots, end, [](const MessageSlot& slot) { return slot.full.load() == 0; });
  return free == end ? nullptr : free;
}

void Mailbox::free_read_messages() {
  std::erase_if(unread_, [&](const Sent& sent) {
    if (sent.slot->full.load() != 0) return false;
    heap_->free(sent.offset);
    return true;
  });
}

void Mailbox::send(const std::byte* data, size_t bytes, int to, int tag, std::chrono::milliseconds limit) {
  auto what =
      "send to rank " + std::to_string(to) + ", which has " + std::to_string(Control::kMessageSlots) + " unread";
  assert(to >= 0 && to < memory_.control.size());
  check_reader(to);
  wait(sending_, limit, what, [&] { return free_slot(to) != nullptr; });
  free_read_messages();
  auto* slot = free_slot(to);
  assert(slot != nullptr);  // only this rank fills slots of its messages
  slot->tag = tag;
  slot->number = num_sent_[to]++;
  slot->bytes = bytes;
  slot->offset = heap_->allocate(bytes);
  if (bytes > 0) std::memcpy(heap_->at(slot->offset), data, bytes);
  slot->full.store(1);
  unread_.push_back({slot, slot->offset});
  memory_.control.slot(to).messages.notify();
}

bool Mailbox::take(std::byte* data, size_t bytes, int from, int tag) {
  auto* message_slots = memory_.control.message_slots(from, rank_);
  auto look = [&] {
    MessageSlot* oldest = nullptr;
    for (auto* slot = message_slots; slot != message_slots + Control::kMessageSlots; ++slot) {
      if (slot->full.load() == 0 || slot->tag != tag) continue;
      if (!oldest || slot->number < oldest->number) oldest = slot;
    }
    return oldest;
  };
  // Messages are sent in the order of their numbers, but use any free slot. The first scan may pass a slot just before
  // it is filled, and then find a newer message. All older messages have been sent by then, so a second scan finds
  // them.
  auto* oldest = look() ? look() : nullptr;
  if (!oldest) return false;
  if (oldest->bytes != bytes) {
    fail("rank ", rank_, " receives ", bytes, " bytes from rank ", from, ", which has sent ", oldest->bytes, " (tag ",
         tag, "); both need tensors of the same size");
  }
  auto* sent = memory_.heaps[from] + oldest->offset;
  if (bytes > 0) std::memcpy(data, sent, bytes);
  if (bytes >= kLargeMessage) release_pages(sent, bytes / page_bytes() * page_bytes());
  oldest->full.store(0);
  memory_.control.slot(from).messages.notify();
  return true;
}

std::optional<int> Mailbox::receive(std::byte* data, size_t bytes, int from, int tag, std::chrono::milliseconds limit) {
  assert(from == kAnyRank || (from >= 0 && from < memory_.control.size()));
  std::optional<int> sender;
  auto look = [&] {
    for (int rank = 0; rank < memory_.control.size() && !sender; ++rank) {
      bool asked = from == kAnyRank ? rank != rank_ : rank == from;
      if (asked && take(data, bytes, rank, tag)) sender = rank;
    }
    return sender.has_value();
  };
  if (limit.count() == 0) {
    look();
  } else {
    auto whom = from == kAnyRank ? std::string("any rank") : "rank " + std::to_string(from);
    wait(receiving_, limit, "receive from " + whom, look);
  }
  return sender;
}

}  // namespace accelerate::shared_memory
