#pragma once

// Records a scheduler's request to preempt the job. The training loop saves its state, not the signal handler.

namespace accelerate {

/// Installs handlers that record SIGTERM and SIGUSR1 instead of ending the process. Signals that the program handles or
/// ignores itself are left alone.
void watch_for_preemption();

/// Whether one of these signals has arrived.
bool preemption_noted();

}  // namespace accelerate
