#pragma once

// Records interrupts (SIGINT) while no notebook_launcher() handles them, so that an interrupted cell that is still
// being compiled is not run.

#include <signal.h>

#include <cstdint>

#include "accelerate/process/signals.h"

namespace accelerate::notebook {

inline int64_t num_old_interrupts = 0;

/// Records SIGINT from now on, even if it was ignored. While notebook_launcher() runs, it takes the interrupts instead.
inline void note_interrupts() { process::count_signal(SIGINT, process::IfHandled::Replace); }

/// Forgets the interrupts so far. Call it at the start of a cell.
inline void forget_interrupts() { num_old_interrupts = process::num_signals(SIGINT); }

/// Whether an interrupt has arrived since forget_interrupts().
inline bool was_interrupted() { return process::num_signals(SIGINT) > num_old_interrupts; }

}  // namespace accelerate::notebook
