#pragma once

// Rounds: the primitive that all collectives are built on. A round is a barrier with data: every rank arrives with a
// staging buffer, a call and a payload, and after the barrier each can read those of all others.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/control.h"

namespace accelerate::shared_memory {

/// Another rank has ended, has left or has not arrived in time. The group cannot be used any more.
class PeerError : public Error {
 public:
  using Error::Error;
};

/// Ranks arrived at a round with different calls. The group stays usable.
class MismatchError : public Error {
 public:
  using Error::Error;
};

/// The memory of a group as it is mapped in this process.
struct GroupMemory {
  ControlView control;
  std::vector<std::byte*> heaps;  // by rank; each begins with the rank's staging buffers
  bool core_for_each = true;      // no two ranks share a core
  std::vector<int> names = {};    // by rank: its number in the job, if that differs from the one in this group

  std::string name_of(int rank) const { return std::to_string(names.empty() ? rank : names[rank]); }
};

/// Staging is double-buffered: a heap starts with two buffers of kStageBytes, used by even and odd rounds.
constexpr size_t kStageBytes = size_t{1} << 20;
constexpr size_t kStagesBytes = 2 * kStageBytes;

/// One rank's side of the rounds. For one thread at a time.
class Channel {
 public:
  Channel(GroupMemory memory, int rank, std::chrono::milliseconds timeout);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  /// Leaves the group. Peers that wait for this rank get a PeerError.
  ~Channel();

  int rank() const { return rank_; }
  int size() const { return memory_.control.size(); }
  std::byte* heap(int rank) const { return memory_.heaps[rank]; }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  /// The staging buffer of the next round, kStageBytes to fill before arrive_and_wait().
  std::byte* stage() const { return stage_of(rank_, round_ + 1); }

  /// Arrives at the next round and returns when all ranks have arrived (as std::barrier does). Throws MismatchError on
  /// every rank if the calls differ; the group stays usable then. Throws PeerError if a rank does not arrive in time,
  /// or has ended.
  void arrive_and_wait(const Call& call, uint64_t payload = 0);

  /// The staging buffer of `rank` in the last round. Valid until the next arrive_and_wait().
  const std::byte* staged(int rank) const { return stage_of(rank, round_); }

  /// The payload of `rank` in the last round. Valid until the next arrive_and_wait().
  uint64_t payload_of(int rank) const { return header_of(rank).payload; }

  /// Throws PeerError if the group has failed. The message names `operation` as what cannot be done.
  void check_usable(const char* operation) const;

  /// Ends the group: peers that wait for this rank get a PeerError, and so does every later call. Thread-safe.
  void leave() { memory_.control.mark_failed(Failure::Left, rank_); }

 private:
  std::byte* stage_of(int rank, uint64_t round) const { return heap(rank) + round % 2 * kStageBytes; }
  const RoundHeader& header_of(int rank) const { return memory_.control.slot(rank).headers[round_ % 2]; }
  void wait_for_others(const Call& call);
  void compare_calls(const Call& call) const;
  std::string missing_ranks() const;

  GroupMemory memory_;
  int rank_;
  std::chrono::milliseconds timeout_;
  SpinWaiter waiter_;
  uint64_t round_ = 0;
};

/// Why the group has failed, in words.
std::string describe_failure(const GroupMemory& memory);

}  // namespace accelerate::shared_memory
