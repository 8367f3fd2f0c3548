#pragma once

// Checks how many processes this machine can run, before the first is started.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace accelerate::process {

/// A resource that every process consumes.
struct ProcessLimit {
  std::string name;             // "processes of this user (ulimit -u)", after "the limit on"
  std::string remedy;           // how to get more of it
  int64_t most = 0;             // the limit
  int64_t used = 0;             // by running processes; 0 if unknown
  int64_t reserved = 0;         // by the process that starts the others
  int64_t of_each_process = 1;  // minimum per process
  std::string unit = "";        // of these numbers: "", or " KiB"
};

/// How many more processes the limit allows.
int64_t room_for_processes(const ProcessLimit& limit);

/// Throws Error that begins with `problem`, such as "--num_processes is 100000", if a limit does not allow this many
/// processes. The message names the limit, its value and the remedy. Refuses only what is certain to fail: programs may
/// need more than the minimum of a process.
void check_process_limits(const std::string& problem, int64_t num_processes, const std::vector<ProcessLimit>& limits);

/// The limits that apply to this process: of its user, its control groups and the kernel, on processes and on memory.
std::vector<ProcessLimit> process_limits();

/// The limits of the control groups listed in `own_groups`, the text of /proc/self/cgroup, below `root`
/// (/sys/fs/cgroup). Supports cgroup v1 and v2.
std::vector<ProcessLimit> control_group_limits(const std::filesystem::path& root, const std::string& own_groups);

/// The hard limit on open files of this process. It needs `of_each_process` files for each process it starts, and
/// `others` in addition.
ProcessLimit open_files_limit(int64_t of_each_process, int64_t others);

/// Raises the soft limit on open files to `count`, at most to the hard limit. Never lowers it. Returns the previous
/// soft limit, which child programs should get: some rely on a low one.
uint64_t raise_open_files_limit(int64_t count);

}  // namespace accelerate::process
