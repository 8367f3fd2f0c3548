#pragma once

// The memory through which ranks tell each other how far they are. All zeros at first; every member is written by one
// rank only, or is a counter.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "accelerate/shared_memory/call.h"
#include "accelerate/shared_memory/signal.h"

namespace accelerate::shared_memory {

/// What a rank brings to a round. The note is for the others to read and may differ.
struct Posting {
  Call call;
  uint64_t note = 0;
};

/// One rank's place. The posting of a round stays readable through the next one: whoever is at the round after that
/// knows that all have finished with this one.
struct alignas(64) Seat {
  std::atomic<uint64_t> round = 0;  // the last one this rank has come to
  Posting postings[2];
  alignas(64) Signal mail;  // something was sent to this rank, or one of its own letters was read
};

/// Something one rank has sent to another, which lies in the heap of the sender.
struct Letter {
  std::atomic<uint32_t> full = 0;  // set by the sender, cleared by the receiver
  int32_t tag = 0;
  uint64_t number = 0;  // counts the letters from this sender to this receiver
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Why a group can no longer be used. The first reason stays.
enum class Break : uint8_t { None, Died, Left, GaveUp };

struct Control {
  static constexpr int kLetters = 16;  // that a rank may send to another before it has to wait for the first to be read

  alignas(64) std::atomic<uint64_t> arrivals = 0;
  alignas(64) std::atomic<uint64_t> completed = 0;  // the last round to which all ranks have come
  Signal rounds;
  alignas(64) std::atomic<uint32_t> broken = 0;  // a Break, and the rank it is about
};

/// The control memory of `size` ranks at `data`. Cheap to copy.
class ControlView {
 public:
  ControlView(std::byte* data, int size) : data_(data), size_(size) {}

  static size_t bytes(int size) {
    return sizeof(Control) + size * sizeof(Seat) + size_t(size) * size * Control::kLetters * sizeof(Letter);
  }

  int size() const { return size_; }
  Control* operator->() const { return reinterpret_cast<Control*>(data_); }
  Seat& seat(int rank) const { return reinterpret_cast<Seat*>(data_ + sizeof(Control))[rank]; }

  /// The letters from `sender` to `receiver`, of which there are kLetters.
  Letter* letters(int sender, int receiver) const {
    auto* all = reinterpret_cast<Letter*>(data_ + sizeof(Control) + size_ * sizeof(Seat));
    return all + (size_t(sender) * size_ + receiver) * Control::kLetters;
  }

  /// Marks the group as broken and wakes everybody who waits.
  void mark_broken(Break reason, int rank) const {
    uint32_t none = 0;
    (*this)->broken.compare_exchange_strong(none, static_cast<uint32_t>(reason) << 16 | static_cast<uint32_t>(rank));
    (*this)->rounds.notify();
    for (int other = 0; other < size_; ++other) seat(other).mail.notify();
  }
  Break reason() const { return static_cast<Break>((*this)->broken.load() >> 16); }
  int culprit() const { return static_cast<int>((*this)->broken.load() & 0xffff); }

 private:
  std::byte* data_;
  int size_;
};

}  // namespace accelerate::shared_memory
