#pragma once

// Shared memory without a name (memfd_create(2)): it is freed with the last process that maps it, even after a crash,
// and no other job can open it by accident.

#include <cstddef>

#include "accelerate/base/descriptor.h"

namespace accelerate::shared_memory {

/// A mapped memfd. A new one only reserves addresses; commit() allocates pages. Throws Error if a system call fails.
class Segment {
 public:
  /// Creates a segment of `capacity` bytes.
  explicit Segment(size_t capacity);

  /// Maps the segment of another process.
  explicit Segment(const Descriptor& descriptor);

  /// The same, and keeps the descriptor, which commit(), release() and make_private() need.
  explicit Segment(Descriptor&& descriptor);

  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  std::byte* data() const { return data_; }
  size_t capacity() const { return capacity_; }

  /// To be sent to another process. Only valid in a Segment that was created here or keeps its descriptor.
  const Descriptor& descriptor() const { return descriptor_; }

  /// Allocates zeroed pages for the range now. A machine without enough memory is an Error here, instead of a SIGBUS in
  /// the middle of a collective. Needs the descriptor.
  void commit(size_t offset, size_t bytes);

  /// Returns the pages of the range to the system. Needs the descriptor.
  void release(size_t offset, size_t bytes);

  /// Remaps the segment copy-on-write (MAP_PRIVATE): writes of this process stay private. Pages that it has not written
  /// still show the shared contents, so peers should no longer write. Needs the descriptor.
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

/// Returns whole pages of a segment to the system, also in a process that did not create it. They read as zeros then.
void release_pages(std::byte* data, size_t bytes);

/// Populates all pages of a range now (MADV_POPULATE_WRITE). Throws Error if there is not enough memory. Kernels before
/// Linux 5.14 populate pages on first write, which may raise a signal.
void commit_pages(std::byte* data, size_t bytes);

}  // namespace accelerate::shared_memory
