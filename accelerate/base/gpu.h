#pragma once

// How many GPUs there are, found out without touching them: a process that has asked the driver cannot fork ranks that
// use one.

#include <string>

namespace accelerate {

/// Number of NVIDIA GPUs whose device files are in `directory`.
int count_gpus(const std::string& directory = "/dev");

}  // namespace accelerate
