#include "accelerate/tensors/memory_pool.h"

#include <algorithm>
#include <iterator>

#include <sys/mman.h>

namespace accelerate::tensors {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Maps memory that is aligned to a huge page. Null on failure.
char* map_segment(size_t bytes) {
  void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(mapped);
  char* start = reinterpret_cast<char*>(round_up(reinterpret_cast<uintptr_t>(begin), kHugePage));
  if (start > begin) munmap(begin, start - begin);
  if (size_t rest = begin + kHugePage - start; rest > 0) munmap(start + bytes, rest);
  madvise(start, bytes, MADV_HUGEPAGE);  // a hint: without huge pages the kernel uses small ones
  return start;
}

}  // namespace

MemoryPool::~MemoryPool() { release_idle(); }

void* MemoryPool::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  bytes = std::max(round_up(bytes, kGranule), kGranule);
  std::lock_guard lock(mutex_);
  auto block = take(bytes);
  if (block == blocks_.end()) return nullptr;
  cut(block, bytes);
  block->second.used = true;
  in_use_ += block->second.bytes;
  return block->first;
}

MemoryPool::Blocks::iterator MemoryPool::take(size_t bytes) {
  if (auto fitting = idle_.lower_bound({bytes, nullptr}); fitting != idle_.end()) {
    auto block = blocks_.find(fitting->second);
    idle_.erase(fitting);
    idle_bytes_ -= block->second.bytes;
    return block;
  }
  if (auto block = add_segment(bytes); block != blocks_.end()) return block;
  release_idle_before(Clock::time_point::max());
  return add_segment(bytes);
}

MemoryPool::Blocks::iterator MemoryPool::add_segment(size_t bytes) {
  bytes = round_up(std::max(bytes, options_.segment), kHugePage);
  char* start = map_segment(bytes);
  if (!start) return blocks_.end();
  return blocks_.emplace(start, Block{.bytes = bytes, .first = true}).first;
}

void MemoryPool::cut(Blocks::iterator block, size_t bytes) {
  size_t rest = block->second.bytes - bytes;
  if (rest == 0) return;
  block->second.bytes = bytes;
  char* start = block->first + bytes;
  blocks_.emplace_hint(std::next(block), start, Block{.bytes = rest});
  idle_.emplace(rest, start);
  idle_bytes_ += rest;
}

bool MemoryPool::free(void* pointer) {
  std::lock_guard lock(mutex_);
  auto block = blocks_.find(static_cast<char*>(pointer));
  if (block == blocks_.end() || !block->second.used) return false;
  block->second.used = false;
  in_use_ -= block->second.bytes;
  block = join_neighbours(block);
  idle_.emplace(block->second.bytes, block->first);
  idle_bytes_ += block->second.bytes;
  auto now = block->second.idle_since = Clock::now();
  if (now >= next_release_) {
    release_idle_before(now - options_.keep);
    next_release_ = now + options_.keep / 8;
  }
  return true;
}

/// Coalesces a block that is not in the idle list with its idle neighbours, which leave the list.
MemoryPool::Blocks::iterator MemoryPool::join_neighbours(Blocks::iterator block) {
  auto unlist = [&](Blocks::iterator other) {
    idle_.erase({other->second.bytes, other->first});
    idle_bytes_ -= other->second.bytes;
  };
  if (auto next = std::next(block); next != blocks_.end() && !next->second.first && !next->second.used) {
    unlist(next);
    block->second.bytes += next->second.bytes;
    blocks_.erase(next);
  }
  if (!block->second.first && !std::prev(block)->second.used) {
    auto before = std::prev(block);
    unlist(before);
    before->second.bytes += block->second.bytes;
    blocks_.erase(block);
    return before;
  }
  return block;
}

bool MemoryPool::is_segment(Blocks::iterator block) const {
  auto next = std::next(block);
  return block->second.first && !block->second.used && (next == blocks_.end() || next->second.first);
}

void MemoryPool::remove_segment(Blocks::iterator block) {
  idle_.erase({block->second.bytes, block->first});
  idle_bytes_ -= block->second.bytes;
  munmap(block->first, block->second.bytes);
  blocks_.erase(block);
}

void MemoryPool::release_idle() {
  std::lock_guard lock(mutex_);
  release_idle_before(Clock::time_point::max());
}

void MemoryPool::release_idle_before(Clock::time_point time) {
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    auto current = block++;
    if (is_segment(current) && current->second.idle_since < time) remove_segment(current);
  }
}

size_t MemoryPool::in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

size_t MemoryPool::idle() const {
  std::lock_guard lock(mutex_);
  return idle_bytes_;
}

}  // namespace accelerate::tensors
