#pragma once

// Where the ranks of a job find each other, as torch.distributed names it: env://, tcp://host:port or file:///path.
// Torch-free.

#include <string>

#include "accelerate/comm/process_environment.h"

namespace accelerate::comm {

/// What the launcher left in the environment, with what `init_method` says instead. Empty and env:// change nothing;
/// tcp:// and file:// say where the store is, and tell the rank and the size of the job where no launcher did:
/// tcp://host:port?rank=0&world_size=2. Throws Error where nobody tells them, for any other text, and for file:// with
/// ranks on several machines.
ProcessEnvironment with_init_method(ProcessEnvironment process, const std::string& init_method);

}  // namespace accelerate::comm
