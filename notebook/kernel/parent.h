#pragma once

// Ends the kernel together with the Jupyter server that started it.

namespace accelerate::notebook {

/// This process ends when its parent, a Jupyter server on this machine, ends or is killed, because then the kernel is
/// unreachable. Does nothing if the kernel was started in another way.
void end_with_parent();

}  // namespace accelerate::notebook
