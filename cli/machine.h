#pragma once

// What this machine is: its system, processor, memory and GPUs.

#include <cstdint>
#include <string>
#include <vector>

namespace accelerate::cli {

/// "Linux-6.1.0-x86_64-with-glibc2.36"
std::string platform_name();

/// The processor's own name, or "unknown".
std::string cpu_name();

/// The names of NVIDIA's GPUs, as the driver tells them.
std::vector<std::string> gpu_names();

/// Bytes of memory, not counting swap.
uint64_t memory_bytes();

/// The file of this program.
std::string own_path();

/// The path of a program in PATH, or nothing.
std::string find_in_path(const std::string& program);

}  // namespace accelerate::cli
