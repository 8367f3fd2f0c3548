#pragma once

// The descendants of a process.

#include <sys/types.h>

#include <vector>

namespace accelerate::launch {

/// All living descendants of `root`, without `root`.
std::vector<pid_t> descendants_of(pid_t root);

/// Kills every descendant of this process, including those that start meanwhile. Orphans count as descendants if this
/// process is a subreaper (PR_SET_CHILD_SUBREAPER). Gives up after a second on processes that the kernel does not
/// release.
void kill_descendants();

}  // namespace accelerate::launch
