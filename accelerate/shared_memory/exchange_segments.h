#pragma once

// Exchanges memory segments between the ranks of a machine, as file descriptors over a Unix socket (SCM_RIGHTS,
// unix(7)).

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/base/descriptor.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::shared_memory {

/// The key-value store through which ranks find each other before they are connected: c10d's, or files in tests. Each
/// exchange has its own keys.
struct KeyValueStore {
  std::function<void(const std::string& key, const std::string& text)> set;
  std::function<bool(const std::string& key)> has;
  std::function<std::string(const std::string& key)> get;  // waits for the key; throws after a time limit
};

/// The segments of all ranks of this machine, in rank order.
struct ExchangedSegments {
  std::vector<int> ranks = {};  // of this machine
  int number = 0;               // the index of this rank among them
  std::shared_ptr<Segment> control = {};
  std::vector<std::shared_ptr<Segment>> heaps = {};
  std::vector<Descriptor> processes = {};  // pidfds to watch; empty for this rank
};

struct ExchangeOptions {
  size_t control_bytes = 0;
  size_t heap_bytes = 0;   // addresses to reserve for each rank
  size_t stage_bytes = 0;  // committed from the start
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Exchanges the segments of the ranks of each machine. `machines` holds the ranks of each. Collective over all ranks
/// of the job. Throws the same Error on all of them if the ranks of any machine cannot share memory.
ExchangedSegments exchange_segments(const KeyValueStore& store, const std::vector<std::vector<int>>& machines, int rank,
                                    const ExchangeOptions& options);

}  // namespace accelerate::shared_memory
