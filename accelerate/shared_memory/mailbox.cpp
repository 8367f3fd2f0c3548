#include "accelerate/shared_memory/mailbox.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace accelerate::shared_memory {

namespace {

// From here on a message that was read gives its memory back at once; that of a smaller one stays until the sender's
// next message, which costs nobody a system call more.
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
void Mailbox::wait(Waiter& waiter, std::chrono::milliseconds limit, const std::string& what, Ready ready) {
  auto& control = memory_.control;
  auto broken = [&] { return control.reason() != Break::None; };
  bool done = false;
  auto look = [&] { return done = ready(); };
  waiter.wait(control.seat(rank_).mail, Clock::now() + limit, [&] { return look() || broken(); });
  // Looked at once more: a rank that sent its message and then ended has broken the group, but not this.
  if (done || look()) return;
  if (broken()) throw PeerError(describe_break(memory_) + " (" + what + ", through shared memory)");
  throw PeerError("the other rank did not take part (" + what + ", through shared memory)");
}

/// A rank that ended after its work was done does not keep the others from writing to each other.
void Mailbox::check_reader(int to) const {
  auto reason = memory_.control.reason();
  if (reason == Break::None) return;
  if (reason != Break::GaveUp && memory_.control.culprit() != to) return;
  throw PeerError(describe_break(memory_) + ", so nothing can be sent to rank " + memory_.name_of(to));
}

Letter* Mailbox::free_letter(int to) const {
  auto* letters = memory_.control.letters(rank_, to);
  auto* end = letters + Control::kLetters;
  auto* free = std::find_if(letters, end, [](const Letter& letter) { return letter.full.load() == 0; });
  return free == end ? nullptr : free;
}

void Mailbox::free_what_was_read() {
  std::erase_if(unread_, [&](const Sent& sent) {
    if (sent.letter->full.load() != 0) return false;
    heap_->free(sent.offset);
    return true;
  });
}

void Mailbox::send(const std::byte* data, size_t bytes, int to, int tag, std::chrono::milliseconds limit) {
  auto what = "send to rank " + std::to_string(to) + ", which has " + std::to_string(Control::kLetters) + " unread";
  check_reader(to);
  wait(sending_, limit, what, [&] { return free_letter(to) != nullptr; });
  free_what_was_read();
  auto* letter = free_letter(to);
  letter->tag = tag;
  letter->number = num_sent_[to]++;
  letter->bytes = bytes;
  letter->offset = heap_->allocate(bytes);
  if (bytes > 0) std::memcpy(heap_->at(letter->offset), data, bytes);
  letter->full.store(1);
  unread_.push_back({letter, letter->offset});
  memory_.control.seat(to).mail.notify();
}

bool Mailbox::take(std::byte* data, size_t bytes, int from, int tag) {
  auto* letters = memory_.control.letters(from, rank_);
  auto look = [&] {
    Letter* oldest = nullptr;
    for (auto* letter = letters; letter != letters + Control::kLetters; ++letter) {
      if (letter->full.load() == 0 || letter->tag != tag) continue;
      if (!oldest || letter->number < oldest->number) oldest = letter;
    }
    return oldest;
  };
  // Letters come in the order of their numbers, but to any place. The first look may have passed a place just before it
  // was filled and then found a later letter; whatever is older than that is there when it looks again.
  auto* oldest = look() ? look() : nullptr;
  if (!oldest) return false;
  if (oldest->bytes != bytes) {
    fail("rank ", rank_, " receives ", bytes, " bytes from rank ", from, ", which has sent ", oldest->bytes, " (tag ",
         tag, "); both need tensors of one size");
  }
  auto* sent = memory_.heaps[from] + oldest->offset;
  if (bytes > 0) std::memcpy(data, sent, bytes);
  if (bytes >= kLargeMessage) release_pages(sent, bytes / page_bytes() * page_bytes());
  oldest->full.store(0);
  memory_.control.seat(from).mail.notify();
  return true;
}

std::optional<int> Mailbox::receive(std::byte* data, size_t bytes, int from, int tag, std::chrono::milliseconds limit) {
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
