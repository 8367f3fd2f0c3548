#include "accelerate/shared_memory/channel.h"

#include <cassert>
#include <ranges>
#include <sstream>
#include <utility>

#include "accelerate/base/text.h"

namespace accelerate::shared_memory {

std::string describe_failure(const GroupMemory& memory) {
  auto rank = "rank " + memory.name_of(memory.control.failed_rank());
  switch (memory.control.reason()) {
    case Failure::Died:
      return "the process of " + rank + " has ended";
    case Failure::Left:
      return rank + " has left the group";
    case Failure::TimedOut:
      return rank + " stopped waiting for the others";
    default:
      return "the group has not failed";
  }
}

Channel::Channel(GroupMemory memory, int rank, std::chrono::milliseconds timeout)
    : memory_(std::move(memory)), rank_(rank), timeout_(timeout), waiter_(memory_.core_for_each) {
  assert(rank >= 0 && rank < size());
  assert(static_cast<int>(memory_.heaps.size()) == size());
}

Channel::~Channel() { leave(); }

void Channel::arrive_and_wait(const Call& call, uint64_t payload) {
  check_usable(name_of(call.operation));
  auto& control = memory_.control;
  auto& slot = control.slot(rank_);
  ++round_;
  slot.headers[round_ % 2] = {call, payload};
  slot.round.store(round_);
  const uint64_t arrivals = control->arrivals.fetch_add(1) + 1;
  // A rank arrives once per round, and only after the round before is complete.
  assert(arrivals > (round_ - 1) * size() && arrivals <= round_ * size());
  if (arrivals == round_ * size()) {
    control->completed.store(round_);
    control->rounds.notify();
  } else {
    wait_for_others(call);
  }
  compare_calls(call);
}

void Channel::wait_for_others(const Call& call) {
  auto& control = memory_.control;
  auto complete = [&] { return control->completed.load() >= round_; };
  auto failed = [&] { return control.reason() != Failure::None; };
  bool in_time = waiter_.wait(control->rounds, Clock::now() + timeout_, [&] { return complete() || failed(); });
  // Check again: a rank may arrive at this round and then end. That fails the group, but not this round.
  if (complete()) return;
  auto missing = missing_ranks();
  if (!in_time) control.mark_failed(Failure::TimedOut, rank_);
  std::ostringstream message;
  if (control.reason() == Failure::TimedOut) {
    message << "these ranks did not take part: " << missing << " (" << describe(call) << ", through shared memory)";
  } else {
    message << describe_failure(memory_) << " (" << describe(call) << ", through shared memory)";
  }
  throw PeerError(message.str());
}

void Channel::compare_calls(const Call& call) const {
  bool same = true;
  for (int rank = 0; rank < size(); ++rank) same &= header_of(rank).call == call;
  if (same) return;
  std::vector<DescribedCall> calls;
  for (int rank = 0; rank < size(); ++rank) calls.push_back({memory_.name_of(rank), describe(header_of(rank).call)});
  throw MismatchError(describe_mismatch(memory_.name_of(rank_), calls));
}

void Channel::check_usable(const char* operation) const {
  if (memory_.control.reason() == Failure::None) return;
  throw PeerError(describe_failure(memory_) + ", so this group can no longer run " + operation);
}

std::string Channel::missing_ranks() const {
  auto missing = std::views::filter([&](int rank) { return memory_.control.slot(rank).round.load() < round_; });
  auto names = std::views::transform([&](int rank) { return memory_.name_of(rank); });
  return listed(std::views::iota(0, size()) | missing | names);
}

}  // namespace accelerate::shared_memory
