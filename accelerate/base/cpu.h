#pragma once

// How many processor cores there are, and how many of them this process may use.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace accelerate {

/// Cores of the machine, hyper-threads of one core counted once. At least 1.
int physical_cores();

/// Logical cores this process may run on at the same time: its affinity mask, bounded by the CPU quota of its control
/// groups. At least 1.
int available_cores();

/// Cores described by the text of /proc/cpuinfo, or 0 when it does not tell.
int count_physical_cores(std::string_view cpuinfo);

/// The smallest CPU quota, in cores rounded up, of the control group `group` ("/a/b") and those above it, below the
/// mount point `root`. Understands both versions of control groups; nothing when there is no limit.
std::optional<int> control_group_cores(const std::filesystem::path& root, const std::string& group);

}  // namespace accelerate
