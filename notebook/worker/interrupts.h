#pragma once

// Interrupts that arrive while no launcher of ranks takes them: they keep a cell that is still being compiled from
// running.

#include <signal.h>

#include <cstdint>

#include "accelerate/process/signals.h"

namespace accelerate::notebook {

inline int64_t num_old_interrupts = 0;

/// Records SIGINT from now on, even if it was ignored. While notebook_launcher() runs, it takes the interrupts instead.
inline void note_interrupts() { process::count_signal(SIGINT, process::IfHandled::Replace); }

/// Forgets the interrupts so far: a new cell begins.
inline void forget_interrupts() { num_old_interrupts = process::num_signals(SIGINT); }

/// Whether an interrupt has come since.
inline bool was_interrupted() { return process::num_signals(SIGINT) > num_old_interrupts; }

}  // namespace accelerate::notebook
