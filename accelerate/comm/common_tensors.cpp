#include "accelerate/comm/common_tensors.h"

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/shared_memory_backend.h"

namespace accelerate::comm {

namespace {

namespace shm = shared_memory;

constexpr size_t kAlignment = 64;  // the alignment of libtorch's own allocations

/// The layout of consecutive tensors in one segment.
struct Arrangement {
  std::vector<size_t> offsets = {};
  size_t bytes = 0;
};

Arrangement arrange(const std::vector<at::Tensor>& like) {
  Arrangement arrangement;
  for (const auto& tensor : like) {
    arrangement.offsets.push_back(arrangement.bytes);
    arrangement.bytes += (tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return arrangement;
}

std::vector<shm::Range> ranges_of(const std::vector<Part>& parts, const std::vector<at::Tensor>& tensors,
                                  const Arrangement& arrangement) {
  std::vector<shm::Range> ranges;
  for (const auto& [tensor, begin, length] : parts) {
    const size_t element_bytes = tensors[tensor].itemsize();
    ranges.push_back({arrangement.offsets[tensor] + begin * element_bytes, length * element_bytes});
  }
  return ranges;
}

}  // namespace

MemoryReach memory_reach(const Group& group) {
  if (group.size() == 1) return {};
  auto* memory = SharedMemoryBackend::of(*group.connection());
  if (!memory) return {};
  if (!memory->memory_reach()) {
    group.connection()->run_recorded("the attempt to reach each other's memory", 0, [&] { memory->try_memory(); });
  }
  return *memory->memory_reach();
}

bool CommonMemory::holds(const at::Tensor& tensor) const {
  const auto segment = segment_.lock();
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  return segment && data >= segment->data() && data < segment->data() + segment->capacity();
}

void CommonMemory::make_private() const {
  if (const auto segment = segment_.lock()) segment->make_private();
}

CommonTensors common_zeros(const Group& group, const std::vector<at::Tensor>& like, const std::vector<Part>& own,
                           const std::string& what) {
  const auto arrangement = arrange(like);
  auto& connection = *group.connection();
  auto* memory = SharedMemoryBackend::of(connection);
  std::shared_ptr<shm::Segment> segment;
  connection.run_recorded(what, static_cast<int64_t>(arrangement.bytes), [&] {
    if (memory) segment = memory->make_common(arrangement.bytes, ranges_of(own, like, arrangement));
  });
  if (!segment) fail(what, ": the ranks cannot open each other's memory");
  CommonTensors made{.tensors = {}, .memory = CommonMemory(segment)};
  for (size_t i = 0; i < like.size(); ++i) {
    made.tensors.push_back(at::for_blob(segment->data() + arrangement.offsets[i], like[i].sizes())
                               .strides(like[i].strides())
                               .deleter([segment](void*) {})
                               .options(like[i].options().requires_grad(false))
                               .make_tensor());
  }
  return made;
}

}  // namespace accelerate::comm
