#include "accelerate/sharding/shared_tensors.h"

#include <cassert>

#include <ATen/ATen.h>

#include "accelerate/comm/shared_zeros.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::sharding {

namespace {

constexpr size_t kAlignment = 64;  // the alignment of libtorch's own allocations

/// Offsets of consecutive tensors in one segment.
struct SegmentLayout {
  std::vector<size_t> offsets = {};
  size_t bytes = 0;
};

SegmentLayout segment_layout(const std::vector<at::Tensor>& like) {
  SegmentLayout layout;
  for (const auto& tensor : like) {
    assert(tensor.is_cpu() && tensor.is_non_overlapping_and_dense());
    layout.offsets.push_back(layout.bytes);
    layout.bytes += (tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return layout;
}

std::vector<shared_memory::Range> ranges_of(const std::vector<Slice>& slices, const std::vector<at::Tensor>& tensors,
                                            const SegmentLayout& layout) {
  std::vector<shared_memory::Range> ranges;
  for (const auto& [tensor, begin, length] : slices) {
    assert(begin >= 0 && length >= 0 && begin + length <= tensors[tensor].numel());
    const size_t element_bytes = tensors[tensor].itemsize();
    ranges.push_back({layout.offsets[tensor] + begin * element_bytes, length * element_bytes});
  }
  return ranges;
}

}  // namespace

bool SharedMemory::holds(const at::Tensor& tensor) const {
  const auto segment = segment_.lock();
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  return segment && data >= segment->data() && data < segment->data() + segment->capacity();
}

void SharedMemory::make_private() const {
  if (const auto segment = segment_.lock()) segment->make_private();
}

SharedTensors shared_zeros(const comm::Group& group, const std::vector<at::Tensor>& like, const std::vector<Slice>& own,
                           const std::string& what) {
  const auto layout = segment_layout(like);
  const auto segment = comm::shared_zeros(group, layout.bytes, ranges_of(own, like, layout), what);
  SharedTensors zeros{.tensors = {}, .memory = SharedMemory(segment)};
  for (size_t i = 0; i < like.size(); ++i) {
    zeros.tensors.push_back(at::for_blob(segment->data() + layout.offsets[i], like[i].sizes())
                                .strides(like[i].strides())
                                .deleter([segment](void*) {})
                                .options(like[i].options().requires_grad(false))
                                .make_tensor());
  }
  return zeros;
}

}  // namespace accelerate::sharding
