#pragma once

// What the library changes in its process. The first PartialState makes the changes; linking the library makes none.
// docs/concepts/what_the_library_changes.md lists them with the environment variable that turns each off.

namespace accelerate::comm {

/// For every process: reports of uncaught exceptions, crashes and files that are too large, the pool of memory for
/// tensors, and the kernel of dropout masks. What the program has set itself is left alone. Calls after the first have
/// no effect. Throws Error for an environment variable that is neither true nor false.
void process_setup();

/// For one of several ranks, in addition: SIGPIPE is ignored, SIGUSR2 asks for a report (watchdog.h), and libtorch's
/// Reducer takes the memory of its buckets from the backend if that can share it. Call it before threads start: it may
/// change the environment.
void rank_setup(bool on_cpu);

}  // namespace accelerate::comm
