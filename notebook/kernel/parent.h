#pragma once

// The Jupyter that has started this kernel.

namespace accelerate::notebook {

/// From now on this process ends when the Jupyter on this machine that has started it does, also when that is killed:
/// nobody could reach the kernel any more. Nothing happens when the kernel was started in another way.
void end_with_parent();

}  // namespace accelerate::notebook
