#pragma once

// How ranks find out whether they share a machine: they try to hand each other their memory.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/descriptor.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::shared_memory {

/// Where ranks leave each other notes before they are connected. The keys belong to one meeting.
struct NoticeBoard {
  std::function<void(const std::string& key, const std::string& text)> post;
  std::function<bool(const std::string& key)> has;
  std::function<std::string(const std::string& key)> read;  // waits for it; throws when it does not come in time
};

/// What a rank has when all have met.
struct Meeting {
  std::shared_ptr<Segment> control;
  std::vector<std::shared_ptr<Segment>> heaps;  // by rank
  std::vector<Descriptor> processes;            // by rank, to watch; none for this one
};

struct MeetingOptions {
  bool willing = true;  // a rank that is not counts as one on another machine
  size_t control_bytes = 0;
  size_t heap_bytes = 0;   // addresses to reserve for each rank
  size_t stage_bytes = 0;  // of which these have memory from the start
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Exchanges memory between all ranks. Collective. Nothing when they are on several machines. Throws Error, with one
/// reason on all ranks, when they share a machine but not their memory.
std::optional<Meeting> meet(const NoticeBoard& board, int rank, int size, const MeetingOptions& options);

}  // namespace accelerate::shared_memory
