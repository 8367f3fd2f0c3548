#pragma once

// Memory that several processes see. It has no name, so nothing is left of it when the last of them ends, however it
// ends, and no other job can meet it by accident.

#include <cstddef>

#include "accelerate/base/descriptor.h"

namespace accelerate::shared_memory {

/// A range of addresses behind which lies memory that can be handed to another process as a file descriptor. At first
/// it is addresses only; commit() puts memory behind a part of them. Throws Error when the system refuses.
class Segment {
 public:
  /// Makes a segment of `capacity` bytes.
  explicit Segment(size_t capacity);

  /// Maps the segment that another process has made.
  explicit Segment(const Descriptor& descriptor);

  /// The same, and keeps the descriptor for what else is to be done with it.
  explicit Segment(Descriptor&& descriptor);

  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  std::byte* data() const { return data_; }
  size_t capacity() const { return capacity_; }

  /// What another process needs to map it; only with whoever made it or kept it.
  const Descriptor& descriptor() const { return descriptor_; }

  /// Puts zeroed memory behind the range, now, so that using it cannot fail later: a machine without enough of it is an
  /// Error here, not a signal in the middle of a collective. For whoever has the descriptor.
  void commit(size_t offset, size_t bytes);

  /// Gives the memory of the range back. For whoever has the descriptor.
  void release(size_t offset, size_t bytes);

  /// From here on what this process writes is its own: a page is copied when it is first written to. It sees the rest
  /// as it is with the others, who should no longer write. For whoever has the descriptor.
  void make_private();

 private:
  void open(int fd);
  void map(int fd);

  Descriptor descriptor_;
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

/// Bytes of a segment, or of a part of one.
struct Range {
  size_t begin = 0;
  size_t length = 0;

  size_t end() const { return begin + length; }
  bool operator==(const Range&) const = default;
};

/// The unit of commit() and release().
size_t page_bytes();

/// Gives the memory behind some whole pages of a segment back to the system, also in a process that did not make it.
/// They hold zeros then.
void release_pages(std::byte* data, size_t bytes);

/// Puts memory behind all pages of a range that have none, now and at once. Throws Error when there is not enough of
/// it; a kernel before Linux 5.14 does so when they are first written, and may send a signal.
void commit_pages(std::byte* data, size_t bytes);

}  // namespace accelerate::shared_memory
