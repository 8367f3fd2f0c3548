#pragma once

// How many processes this machine can hold, known before the first of them is started.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace accelerate {

/// Something of which every process takes a part.
struct ProcessLimit {
  std::string name;             // "processes of this user (ulimit -u)", after "the limit on"
  std::string remedy;           // how to get more of it
  int64_t most = 0;             // that there can be
  int64_t used = 0;             // by what runs already; 0 when that is not known
  int64_t reserved = 0;         // by what starts the processes
  int64_t of_each_process = 1;  // what a process takes at least
  std::string unit = "";        // of these numbers: "", or " KiB"
};

/// How many more processes the limit allows.
int64_t room_for_processes(const ProcessLimit& limit);

/// Throws Error that begins with `problem`, such as "--num_processes is 100000", when a limit does not allow so many
/// processes. It names the limit, its value and the remedy. Only what is certain is refused: what programs need beyond
/// the least that a process takes is not known.
void check_process_limits(const std::string& problem, int64_t num_processes, const std::vector<ProcessLimit>& limits);

/// The limits of this process: of its user, its control groups and the kernel, on processes and on memory.
std::vector<ProcessLimit> process_limits();

/// The limits of the control groups of a process, whose /proc/self/cgroup is `own_groups`, below `root`
/// (/sys/fs/cgroup), version 1 or 2.
std::vector<ProcessLimit> control_group_limits(const std::filesystem::path& root, const std::string& own_groups);

/// The hard limit on open files of this process, which needs `of_each_process` of them for each that it starts and has
/// `others` to open beside.
ProcessLimit open_files_limit(int64_t of_each_process, int64_t others);

/// Raises the soft limit on open files to `count`, or to the hard limit if that is less, unless it is higher already.
/// Returns the soft limit from before, for programs to start with: some count on a low one.
uint64_t raise_open_files_limit(int64_t count);

}  // namespace accelerate
