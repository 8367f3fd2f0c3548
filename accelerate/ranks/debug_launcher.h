#pragma once

// Tries a training function on several CPU processes, from within a program or a notebook.

#include <functional>
#include <string>

#include "accelerate/ranks/fork_ranks.h"

namespace accelerate::ranks {

/// Calls `function(args...)` in `num_processes` processes on the CPU, where an Accelerator or PartialState finds itself
/// one of that many ranks. Returns when all have returned; throws Error naming the first rank that failed. The function
/// works on copies: what it computes is to be saved or printed there.
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
