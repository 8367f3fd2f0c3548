#pragma once

// How many processor cores there are, how many of them this process may use, and how many threads that makes.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate {

/// Cores of the machine, hyper-threads of one core counted once. At least 1.
int physical_cores();

/// Logical cores this process may run on at the same time: its affinity mask, bounded by the CPU quota of its control
/// groups. At least 1.
int available_cores();

/// Cores that this process can keep busy: the smaller of both numbers.
int usable_cores();

/// The threads that the user asks for with OMP_NUM_THREADS, of its list the first number, which is that of the
/// outermost level; nothing where it is not set, or 0. Throws Error when it is not a number.
std::optional<int> wanted_threads();

/// The usable cores divided by the processes of this machine, at least 1.
int fair_threads(int num_processes);

/// The numbers of the logical cores that this thread may run on, in order.
std::vector<int> allowed_cores();

/// Those of `cores` that are for process `index` of `count` alone: as many as for any other, next to each other. With
/// more processes than cores, one that it shares.
std::vector<int> cores_of_process(const std::vector<int>& cores, int index, int count);

/// Keeps this thread, and those it starts from now on, on `cores`. False when the system does not let it.
bool stay_on_cores(const std::vector<int>& cores);

/// Cores described by the text of /proc/cpuinfo, or 0 when it does not tell.
int count_physical_cores(std::string_view cpuinfo);

/// The smallest CPU quota, in cores rounded up, of the control group `group` ("/a/b") and those above it, below the
/// mount point `root`. Understands both versions of control groups; nothing when there is no limit.
std::optional<int> control_group_cores(const std::filesystem::path& root, const std::string& group);

}  // namespace accelerate
