#pragma once

// A scheduler's request to make room. Only noted here: what has to be saved is saved by the loop, not by a handler.

namespace accelerate {

/// From now on SIGTERM and SIGUSR1 are noted instead of ending the process. One that the program handles or ignores
/// itself is left to it.
void watch_for_preemption();

/// Whether one of them has come.
bool preemption_noted();

}  // namespace accelerate
