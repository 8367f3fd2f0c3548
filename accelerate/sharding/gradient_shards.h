#pragma once

// ZeRO-2: each rank keeps its shard of the averaged gradients and returns the pages of the rest to the system.

#include <cstddef>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/slice.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::parallel {
class Replicas;
}

namespace accelerate::sharding {

/// The slice of a parameter's gradient that this rank keeps.
using KeptSlice = std::function<Slice(const at::Tensor& parameter)>;

/// Lets this rank keep only the slice `kept` of each averaged gradient of `replicas`. The pages of the rest are
/// released as soon as the bucket is reduced and read as zeros, except for elements on the same page as the slice.
/// Gradients must be dropped before the next averaging backward. Buckets keep the order of the parameters. Throws Error
/// if ranks do not share memory, gradients are not views of the buckets, or there is a communication hook. Lasts until
/// every caller has called release_gradient_shards(). Not collective.
void keep_gradient_shards(parallel::Replicas& replicas, const KeptSlice& kept);

/// Ends one call of keep_gradient_shards(). Not collective.
void release_gradient_shards(parallel::Replicas& replicas);

/// If ranks keep shards of the gradients of `replicas`, keeps them whole from now on, permanently. Drops gradients that
/// are partly released; returns their number. Not collective.
size_t keep_whole_gradients(parallel::Replicas& replicas);

/// The pages of a page-aligned buffer of `bytes` bytes that do not overlap any range of `kept`, which is sorted.
std::vector<shared_memory::Range> pages_between(const std::vector<shared_memory::Range>& kept, size_t bytes,
                                                size_t page_bytes);

}  // namespace accelerate::sharding
