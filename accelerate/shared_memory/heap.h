#pragma once

// Blocks of a segment, for what a rank wants its peers to reach without a copy.

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "accelerate/shared_memory/segment.h"

namespace accelerate::shared_memory {

/// The heap of the rank that made `segment`. Blocks start at pages. Any thread may call.
class Heap {
 public:
  /// Leaves the first `reserved` bytes of the segment alone.
  Heap(std::shared_ptr<Segment> segment, size_t reserved);

  /// The offset of a new block of zeros. Throws Error when there is no memory for it.
  size_t allocate(size_t bytes);

  /// Gives the block at `offset` back to the system, in the process that made the heap: one that was forked from it has
  /// the same memory, not a copy.
  void free(size_t offset);

  /// Where in the segment the range is; nothing when it is elsewhere.
  std::optional<size_t> offset_of(const void* data, size_t bytes) const;

  std::byte* at(size_t offset) const { return segment_->data() + offset; }

  /// In blocks that are not free.
  size_t used_bytes() const;

 private:
  std::shared_ptr<Segment> segment_;
  size_t reserved_;
  pid_t owner_;
  mutable std::mutex mutex_;
  std::map<size_t, size_t> blocks_;  // sizes by offset
};

}  // namespace accelerate::shared_memory
