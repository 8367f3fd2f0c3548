#pragma once

// The processes that a process has started, directly or through others.

#include <sys/types.h>

#include <vector>

namespace accelerate::launch {

/// All living descendants of `root`, without itself.
std::vector<pid_t> descendants_of(pid_t root);

/// Kills every descendant of this process, also those that appear meanwhile. Processes whose parents have ended count
/// as descendants when this process adopts them (PR_SET_CHILD_SUBREAPER). Gives up after a second on what the kernel
/// does not let go of.
void kill_descendants();

}  // namespace accelerate::launch
