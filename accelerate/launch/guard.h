#pragma once

// A pair of processes that watch each other. Both are subreapers, so no process of a job outlives the command that the
// user started, even if that is killed.

#include <functional>

namespace accelerate::launch {

/// Runs `work` in a child process. Returns its result, or 128 + the signal that ended it. Forwards requests to stop
/// (SIGINT, SIGTERM, SIGHUP, SIGQUIT) and the other signals of SignalWatch to the child. SIGTSTP stops the caller too,
/// so that the shell notices. If either process ends in any way, the other kills all descendants and calls `tidy`.
/// Descendants include processes that ranks have started and those in other sessions. `work` must not throw.
int run_guarded(const std::function<int()>& work, const std::function<void()>& tidy);

}  // namespace accelerate::launch
