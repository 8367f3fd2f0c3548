#pragma once

// Communication hooks in the form that c10d's Reducer calls. Private to this room.

#include <memory>

#include <torch/csrc/distributed/c10d/comm.hpp>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/comm_hook.h"
#include "accelerate/parallel/data_parallel_options.h"

namespace accelerate::parallel {

/// The hook named in the kwargs; nullptr for CommHook::No.
std::unique_ptr<c10d::CommHookInterface> reducer_hook(const DistributedDataParallelKwargs& kwargs,
                                                      const comm::Group& group);

/// Wraps `function` and checks that its result fits the bucket.
std::unique_ptr<c10d::CommHookInterface> reducer_hook(CommHookFunction function, const comm::Group& group);

}  // namespace accelerate::parallel
