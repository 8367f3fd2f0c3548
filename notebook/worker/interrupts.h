#pragma once

// Interrupts that come when no launcher of ranks is there to take them: they keep a cell that is still being compiled
// from running.

namespace accelerate::notebook {

/// From now on SIGINT is noted. A handler of its own does not keep the launcher of ranks from noticing interrupts too,
/// as ignoring them would.
void note_interrupts();

/// Forgets what was noted; a new cell begins.
void forget_interrupts();

/// Whether an interrupt has come since.
bool was_interrupted();

}  // namespace accelerate::notebook
