#pragma once

// Runs a training function on several CPU processes, from a program or a notebook, to try it out.

#include <functional>
#include <string>

#include "accelerate/ranks/fork_ranks.h"

namespace accelerate::ranks {

/// Calls `function(args...)` in `num_processes` forked processes on the CPU. An Accelerator or PartialState in them is
/// one of as many ranks. Returns when all have returned. Throws Error naming the first rank that failed. The function
/// works on copies, so it must save or print its results itself.
template <class Function, class... Args>
void debug_launcher(Function&& function, int num_processes = 2, const Args&... args) {
  auto body = [&](int) {
    std::invoke(function, args...);
    return std::string();
  };
  fork_ranks(num_processes, body, {.environment = {{"ACCELERATE_MIXED_PRECISION", "no"}}});
}

}  // namespace accelerate::ranks

namespace accelerate {
using ranks::debug_launcher;
}  // namespace accelerate
