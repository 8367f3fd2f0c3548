#pragma once

// Two processes that watch over each other, so that nothing of a job outlives the one that the user knows, not even
// when that is killed.

#include <functional>

namespace accelerate::launch {

/// Runs `work` in a process of its own and returns what it returns, or 128 + the signal that ended it. Requests to stop
/// (SIGINT, SIGTERM, SIGHUP, SIGQUIT) and the other signals of SignalWatch are passed on to it; SIGTSTP stops the
/// caller, too, so that a shell takes note. When either process is gone, however it ended, the other one kills
/// everything that `work` has started and calls `tidy`: a process that a rank has started, too, and one that has moved
/// to a session of its own. `work` must not throw.
int run_guarded(const std::function<int()>& work, const std::function<void()>& tidy);

}  // namespace accelerate::launch
