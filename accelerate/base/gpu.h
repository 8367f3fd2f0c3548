#pragma once

// Counts GPUs without initializing the driver: a process that has initialized it cannot fork ranks that use a GPU.

#include <string>

namespace accelerate {

/// The number of NVIDIA GPUs with device files in `directory`.
int count_gpus(const std::string& directory = "/dev");

}  // namespace accelerate
