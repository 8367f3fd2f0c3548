#pragma once

// A zeroed segment that all ranks of a group map: one copy per machine.

#include <cstddef>
#include <memory>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::shared_memory {

/// Creates a zeroed segment of `bytes` that every rank maps. It lives until the last rank drops it, in any order. Each
/// rank first-touches its `own` ranges, so that their pages are on its NUMA node; together the ranges cover what is
/// used. Returns null on all ranks if any rank cannot open the segment, as in separate containers, where ranks do not
/// see each other's processes. Throws Error on all ranks if one runs out of memory. Collective.
std::shared_ptr<Segment> shared_zeros(Channel& channel, size_t bytes, const std::vector<Range>& own);

}  // namespace accelerate::shared_memory
