#pragma once

// Memory of which there is one copy on a machine, and which all ranks of a group see.

#include <cstddef>
#include <memory>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::shared_memory {

/// A segment of `bytes` zeros that every rank maps. It lasts until the last of them has let go of it, in whatever order
/// they end. Each rank puts memory behind its `own` ranges, which is then near its cores; together they cover what is
/// used. Null on all ranks where some may not open what another has made: ranks in containers of their own do not see
/// each other's processes. Throws Error on all ranks when one finds no memory. Collective.
std::shared_ptr<Segment> make_common_memory(Channel& channel, size_t bytes, const std::vector<Range>& own);

}  // namespace accelerate::shared_memory
