#pragma once

// The number of processor cores, how many of them this process may use, and how many threads to start.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate {

/// Physical cores of the machine: hyper-threads of one core count once. At least 1.
int physical_cores();

/// Logical cores available to this process: its affinity mask, bounded by the CPU quota of its control groups. At least
/// 1.
int available_cores();

/// Cores that this process can keep busy: the smaller of both.
int usable_cores();

/// The number of threads in OMP_NUM_THREADS; of a list the first number, which is for the outermost level. Nothing if
/// unset or 0. Throws Error if it is not a number.
std::optional<int> wanted_threads();

/// The usable cores divided by the processes of this machine, at least 1.
int threads_per_process(int num_processes);

/// The numbers of the logical cores that this thread may run on, in order.
std::vector<int> allowed_cores();

/// The subset of `cores` for process `index` of `count`: contiguous, exclusive, and of the same size for all processes.
/// With more processes than cores, one shared core.
std::vector<int> cores_of_process(const std::vector<int>& cores, int index, int count);

/// Pins this thread, and threads it starts later, to `cores`. Returns false if the system refuses.
bool pin_to_cores(const std::vector<int>& cores);

/// The number of physical cores in the text of /proc/cpuinfo, or 0 if unknown.
int count_physical_cores(std::string_view cpuinfo);

/// The smallest CPU quota, in cores rounded up, of the control group `group` ("/a/b") and its ancestors, below the
/// mount point `root`. Supports cgroup v1 and v2. Nothing if there is no limit.
std::optional<int> control_group_cores(const std::filesystem::path& root, const std::string& group);

}  // namespace accelerate
