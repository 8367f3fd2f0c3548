#include "accelerate/shared_memory/heap.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <iterator>

#include "accelerate/base/error.h"

namespace accelerate::shared_memory {

namespace {

size_t whole_pages(size_t bytes) {
  return (std::max<size_t>(bytes, 1) + page_bytes() - 1) / page_bytes() * page_bytes();
}

}  // namespace

Heap::Heap(std::shared_ptr<Segment> segment, size_t reserved)
    : segment_(std::move(segment)), reserved_(whole_pages(reserved)), owner_(getpid()) {
  assert(reserved_ <= segment_->capacity());
}

size_t Heap::allocate(size_t bytes) {
  bytes = whole_pages(bytes);
  std::lock_guard lock(mutex_);
  size_t offset = reserved_;
  for (const auto& [begin, size] : blocks_) {
    if (offset + bytes <= begin) break;
    offset = begin + size;
  }
  if (offset + bytes > segment_->capacity()) {
    fail("a block of ", bytes, " bytes does not fit into the shared memory of this rank, which has ",
         segment_->capacity(), " bytes");
  }
  assert(offset % page_bytes() == 0);
  segment_->commit(offset, bytes);
  [[maybe_unused]] const auto [block, is_new] = blocks_.emplace(offset, bytes);
  assert(is_new);
  assert(std::next(block) == blocks_.end() || offset + bytes <= std::next(block)->first);
  return offset;
}

void Heap::free(size_t offset) {
  std::lock_guard lock(mutex_);
  auto block = blocks_.find(offset);
  if (block == blocks_.end()) return;
  if (getpid() == owner_) segment_->release(block->first, block->second);
  blocks_.erase(block);
}

std::optional<size_t> Heap::offset_of(const void* data, size_t bytes) const {
  const auto* begin = static_cast<const std::byte*>(data);
  if (begin < segment_->data() || begin + bytes > segment_->data() + segment_->capacity()) return std::nullopt;
  return begin - segment_->data();
}

size_t Heap::used_bytes() const {
  std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [begin, size] : blocks_) sum += size;
  return sum;
}

}  // namespace accelerate::shared_memory
