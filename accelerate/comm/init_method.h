#pragma once

// Where the rendezvous takes place, in the notation of torch.distributed: env://, tcp://host:port or file:///path.
// Torch-free.

#include <string>

#include "accelerate/comm/process_environment.h"

namespace accelerate::comm {

/// Overrides the launcher's environment with `init_method`. Empty and env:// change nothing. tcp:// and file:// say
/// where the store is. Without a launcher they also give rank and world size: tcp://host:port?rank=0&world_size=2.
/// Throws Error if rank and world size are not given or contradict the launcher, for any other text, and for file://
/// with ranks on several machines.
ProcessEnvironment with_init_method(ProcessEnvironment process, const std::string& init_method);

}  // namespace accelerate::comm
