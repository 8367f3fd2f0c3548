#pragma once

// Rounds: the one step of which all collectives are made. Every rank brings something to a round; when all have come,
// each can read what the others have brought.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/control.h"

namespace accelerate::shared_memory {

/// Another rank has ended, has left or has not come. The group cannot be used any more.
class PeerError : public Error {
 public:
  using Error::Error;
};

/// Ranks came to a round with different calls. The group can be used further.
class MismatchError : public Error {
 public:
  using Error::Error;
};

/// Where the memory of a group is, seen from this process.
struct GroupMemory {
  ControlView control;
  std::vector<std::byte*> heaps;  // by rank; each begins with the rank's stage
  bool core_for_each = true;      // no rank has to share its core with another
  std::vector<int> names = {};    // by rank: what messages call it, where that is not its number in this group

  std::string name_of(int rank) const { return std::to_string(names.empty() ? rank : names[rank]); }
};

/// The bytes at the start of a heap that hold a rank's stage: what it brings to a round, and what it brought to the one
/// before.
constexpr size_t kStageBytes = size_t{1} << 20;
constexpr size_t kStagesBytes = 2 * kStageBytes;

/// One rank's side of the rounds. For one thread at a time.
class Channel {
 public:
  Channel(GroupMemory memory, int rank, std::chrono::milliseconds timeout);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  /// Leaves the group: peers that wait for this rank fail.
  ~Channel();

  int rank() const { return rank_; }
  int size() const { return memory_.control.size(); }
  std::byte* heap(int rank) const { return memory_.heaps[rank]; }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  /// kStageBytes to fill before the next meet().
  std::byte* stage() const { return stage_of(rank_, round_ + 1); }

  /// Comes to the next round and returns when all have. Throws MismatchError on every rank when the calls differ; then
  /// the group goes on. Throws PeerError when a rank has not come in time, or never will.
  void meet(const Call& call, uint64_t note = 0);

  /// What `rank` had staged when it came to the last round; until the next meet().
  const std::byte* staged(int rank) const { return stage_of(rank, round_); }

  /// The note that `rank` had brought; until the next meet().
  uint64_t note_of(int rank) const { return posting_of(rank).note; }

  /// Throws PeerError if the group is broken. `operation` is what cannot be done.
  void check_usable(const char* operation) const;

  /// Ends the group: peers that wait for this rank fail, and so does whatever comes after. From any thread.
  void leave() { memory_.control.mark_broken(Break::Left, rank_); }

 private:
  std::byte* stage_of(int rank, uint64_t round) const { return heap(rank) + round % 2 * kStageBytes; }
  const Posting& posting_of(int rank) const { return memory_.control.seat(rank).postings[round_ % 2]; }
  void wait_for_others(const Call& call);
  void compare_calls(const Call& call) const;
  std::string missing_ranks() const;

  GroupMemory memory_;
  int rank_;
  std::chrono::milliseconds timeout_;
  Waiter waiter_;
  uint64_t round_ = 0;
};

/// Says why the group is broken.
std::string describe_break(const GroupMemory& memory);

}  // namespace accelerate::shared_memory
