#pragma once

// How the ranks of a machine hand each other their memory.

#include <chrono>
#include <memory>
#include <vector>

#include "accelerate/base/descriptor.h"
#include "accelerate/shared_memory/machines.h"
#include "accelerate/shared_memory/notice_board.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::shared_memory {

/// What a rank has when those of its machine have met: the memory of each of them, in their order.
struct Meeting {
  std::vector<int> ranks = {};  // that have met
  int number = 0;               // this one's place among them
  std::shared_ptr<Segment> control = {};
  std::vector<std::shared_ptr<Segment>> heaps = {};
  std::vector<Descriptor> processes = {};  // to watch; none for this one
};

struct MeetingOptions {
  size_t control_bytes = 0;
  size_t heap_bytes = 0;   // addresses to reserve for each rank
  size_t stage_bytes = 0;  // of which these have memory from the start
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Exchanges memory between the ranks of each machine. Collective for all ranks of the job. Throws Error, with one
/// reason on all of them, when the ranks of some machine cannot share their memory.
Meeting meet(const NoticeBoard& board, const Machines& machines, int rank, const MeetingOptions& options);

}  // namespace accelerate::shared_memory
