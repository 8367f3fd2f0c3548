#include "accelerate/train/executable_batch_size.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include <ATen/DeviceAccelerator.h>
#include <c10/util/Exception.h>

namespace accelerate::train {

bool should_reduce_batch_size(const std::exception& error) {
  static constexpr std::array<std::string_view, 4> kMessages = {
      " out of memory.",
      "MPS backend out of memory",
      "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED.",
      "DefaultCPUAllocator: can't allocate memory",
  };
  if (dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const c10::OutOfMemoryError*>(&error)) return true;
  const std::string_view message = error.what();
  return std::any_of(kMessages.begin(), kMessages.end(),
                     [&](std::string_view part) { return message.find(part) != std::string_view::npos; });
}

void clear_device_cache() {
  if (at::getAccelerator()) at::accelerator::emptyCache();
}

int64_t next_batch_size(int64_t batch_size, const BatchSizeOptions& options) {
  if (!options.reduce_batch_size_fn) return static_cast<int64_t>(batch_size * 0.9);
  const int64_t next = options.reduce_batch_size_fn();
  if (next < batch_size) return next;
  fail("find_executable_batch_size: reduce_batch_size_fn returned ", next, " after a batch of ", batch_size,
       " did not fit into memory; it must return a smaller size");
}

}  // namespace accelerate::train
