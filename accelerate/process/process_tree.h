#pragma once

// The descendants of this process, and how it keeps those whose parents have ended.

#include <sys/types.h>

#include <vector>

namespace accelerate::process {

/// Makes this process a subreaper, see prctl(2): orphaned descendants become its children instead of init's.
void become_subreaper();

/// All living descendants of `root`, without `root`.
std::vector<pid_t> descendants_of(pid_t root);

/// Kills every descendant of this process, including those that start meanwhile. Orphans count as descendants if this
/// process is a subreaper (PR_SET_CHILD_SUBREAPER). Gives up after a second on processes that the kernel does not
/// release.
void kill_descendants();

}  // namespace accelerate::process
