#pragma once

// Memory that all ranks of a group map: one copy per machine.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/comm/group.h"

namespace accelerate::shared_memory {
struct Range;
class Segment;
}  // namespace accelerate::shared_memory

namespace accelerate::comm {

/// How the ranks of a group can access each other's memory.
struct MemoryAccess {
  bool shared = false;  // all ranks can map the same memory
  bool direct = false;  // ranks can write to each other's private memory, so all_gather_slices needs one copy only
};

/// Determined by probing. Both are false if the transport is not shared memory. The first call for a group is
/// collective.
MemoryAccess memory_access(const Group& group);

/// Creates a zeroed segment of `bytes`. All ranks see what one writes; the caller orders accesses with collectives.
/// `own` are the ranges that this rank writes most: it touches them first, so that their pages are on its NUMA node.
/// Together the ranges of all ranks cover what is used. Collective; requires memory_access().shared. Throws Error on
/// all ranks if memory runs out. `what` appears in errors.
std::shared_ptr<shared_memory::Segment> shared_zeros(const Group& group, size_t bytes,
                                                     const std::vector<shared_memory::Range>& own,
                                                     const std::string& what);

}  // namespace accelerate::comm
