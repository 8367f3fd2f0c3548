#include "accelerate/shared_memory/local_group.h"

#include <unistd.h>

#include <algorithm>

#include "accelerate/base/cpu.h"

namespace accelerate::shared_memory {

namespace {

constexpr size_t kMostAddresses = size_t{1} << 46;  // half of the address space of a process

/// Reserving addresses is free, so the heap of each rank is as large as the physical memory of the machine.
size_t heap_bytes(int size) {
  auto memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return std::min(memory, kMostAddresses / size) / page_bytes() * page_bytes() + kStagesBytes;
}

}  // namespace

ExchangeOptions LocalGroup::exchange_options(int size, std::chrono::milliseconds timeout) {
  return {.control_bytes = ControlView::bytes(size),
          .heap_bytes = heap_bytes(size),
          .stage_bytes = kStagesBytes,
          .timeout = timeout};
}

LocalGroup::LocalGroup(ExchangedSegments segments, std::chrono::milliseconds timeout, std::optional<int> core_sharers)
    : ranks_(std::move(segments.ranks)),
      core_for_each_(core_sharers.value_or(static_cast<int>(ranks_.size())) <= available_cores()),
      control_(std::move(segments.control)),
      segments_(std::move(segments.heaps)),
      heap_(std::make_shared<Heap>(segments_[segments.number], kStagesBytes)),
      channel_(memory(), segments.number, timeout),
      mailbox_(memory(), segments.number, heap_),
      watch_(std::move(segments.processes),
             [control = memory().control](int peer) { control.mark_failed(Failure::Died, peer); }) {}

GroupMemory LocalGroup::memory() const {
  int size = static_cast<int>(segments_.size());
  GroupMemory memory{
      .control = {control_->data(), size}, .heaps = {}, .core_for_each = core_for_each_, .names = ranks_};
  for (const auto& segment : segments_) memory.heaps.push_back(segment->data());
  return memory;
}

}  // namespace accelerate::shared_memory
