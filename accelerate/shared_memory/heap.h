#pragma once

// Allocates blocks in a segment, for tensors that peers read and write in place.

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "accelerate/shared_memory/segment.h"

namespace accelerate::shared_memory {

/// The heap of the rank that created `segment`. Blocks are page-aligned. Thread-safe.
class Heap {
 public:
  /// Does not use the first `reserved` bytes of the segment.
  Heap(std::shared_ptr<Segment> segment, size_t reserved);

  /// Returns the offset of a new zeroed block. Throws Error if there is no memory for it.
  size_t allocate(size_t bytes);

  /// Returns the block at `offset` to the system. Does nothing in a forked child: the segment is shared with the
  /// parent, not copied.
  void free(size_t offset);

  /// The offset of the range in the segment, or nothing if it lies elsewhere.
  std::optional<size_t> offset_of(const void* data, size_t bytes) const;

  std::byte* at(size_t offset) const { return segment_->data() + offset; }

  /// The total size of the allocated blocks.
  size_t used_bytes() const;

 private:
  std::shared_ptr<Segment> segment_;
  size_t reserved_;
  pid_t owner_;
  mutable std::mutex mutex_;
  std::map<size_t, size_t> blocks_;  // sizes by offset
};

}  // namespace accelerate::shared_memory
