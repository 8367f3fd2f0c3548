#include "accelerate/process/process_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"

namespace accelerate::process {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kKibi = 1 << 10;

/// The memory of an idle process: page tables, kernel stack, pages written by the dynamic loader.
constexpr int64_t kLeastMemory = 256;  // KiB

/// The first number in a file; nothing if there is no number, as for "max".
std::optional<int64_t> number_in(const fs::path& path) {
  std::istringstream text(read_file_if_there(path).value_or(""));
  int64_t number = 0;
  return text >> number ? std::optional(number) : std::nullopt;
}

/// The value in KiB of a /proc/meminfo entry such as "MemAvailable:".
std::optional<int64_t> memory_info(const std::string& name) {
  std::istringstream words(read_file_if_there("/proc/meminfo").value_or(""));
  for (std::string word; words >> word;) {
    int64_t number = 0;
    if (word == name && words >> number) return number;
  }
  return std::nullopt;
}

/// The number of processes and threads of the machine, from "0.20 0.18 0.12 1/80 11206".
int64_t num_threads_of_machine() {
  auto text = read_file_if_there("/proc/loadavg").value_or("");
  auto slash = text.find('/');
  return slash == std::string::npos ? 0 : std::atoll(text.c_str() + slash + 1);
}

/// The control group for a controller: from "3:pids:/path" in cgroup v1, from "0::/path" in v2.
std::optional<std::string> group_of(const std::string& own_groups, const std::string& controller) {
  std::istringstream lines(own_groups);
  for (std::string line; std::getline(lines, line);) {
    auto first = line.find(':');
    auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controller) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// The directories of a group and its ancestors, up to `top`. A container may see its own group as `top`; the path
/// below it then does not exist.
std::vector<fs::path> group_directories(const fs::path& top, const std::string& group) {
  std::vector<fs::path> directories = {top};
  for (const auto& part : fs::path(group).relative_path()) directories.push_back(directories.back() / part);
  return directories;
}

ProcessLimit processes_of_group(const fs::path& file, int64_t most, int64_t used) {
  return {.name = "processes and threads of this control group (" + file.string() + ")",
          .remedy = "ask the administrator of this container or service for more",
          .most = most,
          .used = used};
}

ProcessLimit memory_of_group(const fs::path& file, int64_t bytes, int64_t used_bytes) {
  return {.name = "memory of this control group (" + file.string() + ")",
          .remedy = "ask the administrator of this container or service for more",
          .most = bytes / kKibi,
          .used = used_bytes / kKibi,
          .of_each_process = kLeastMemory,
          .unit = " KiB"};
}

void add_limits_of(const fs::path& directory, std::vector<ProcessLimit>& limits) {
  if (auto most = number_in(directory / "pids.max")) {
    limits.push_back(
        processes_of_group(directory / "pids.max", *most, number_in(directory / "pids.current").value_or(0)));
  }
  // Ignores current usage: most of it may be page cache, which is reclaimable.
  for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
    if (auto most = number_in(directory / name)) limits.push_back(memory_of_group(directory / name, *most, 0));
  }
}

}  // namespace

int64_t room_for_processes(const ProcessLimit& limit) {
  return std::max<int64_t>(0, limit.most - limit.used - limit.reserved) / std::max<int64_t>(1, limit.of_each_process);
}

void check_process_limits(const std::string& problem, int64_t num_processes, const std::vector<ProcessLimit>& limits) {
  for (const auto& limit : limits) {
    auto room = room_for_processes(limit);
    if (num_processes <= room) continue;
    std::ostringstream text;
    text << problem << ", but there is room for " << room << ": the limit on " << limit.name << " is " << limit.most
         << limit.unit;
    if (limit.used > 0) text << ", and " << limit.used << limit.unit << " are in use";
    if (limit.reserved > 0) text << "; the launcher takes " << limit.reserved << limit.unit << " more";
    if (limit.of_each_process > 1) {
      text << "; each process takes at least " << limit.of_each_process << limit.unit;
    }
    fail(text.str(), room > 0 ? ". Start fewer, or " : ". Not even one fits: ", limit.remedy);
  }
}

std::vector<ProcessLimit> control_group_limits(const fs::path& root, const std::string& own_groups) {
  std::vector<ProcessLimit> limits;
  for (const char* controller : {"pids", "memory"}) {
    if (auto group = group_of(own_groups, controller)) {
      for (const auto& directory : group_directories(root / controller, *group)) add_limits_of(directory, limits);
    }
  }
  if (auto group = group_of(own_groups, "")) {
    for (const auto& directory : group_directories(root, *group)) add_limits_of(directory, limits);
  }
  return limits;
}

ProcessLimit open_files_limit(int64_t of_each_process, int64_t others) {
  rlimit limits{};
  getrlimit(RLIMIT_NOFILE, &limits);
  std::error_code error;
  auto open = std::distance(fs::directory_iterator("/proc/self/fd", error), fs::directory_iterator());
  return {.name = "open files of a process (ulimit -n)",
          .remedy = "raise it with ulimit -n",
          .most = static_cast<int64_t>(std::min<rlim_t>(limits.rlim_max, std::numeric_limits<int64_t>::max())),
          .used = std::max<int64_t>(0, open - 1),  // without the directory /proc/self/fd itself
          .reserved = others,
          .of_each_process = of_each_process};
}

uint64_t raise_open_files_limit(int64_t count) {
  rlimit limits{};
  getrlimit(RLIMIT_NOFILE, &limits);
  auto before = limits.rlim_cur;
  limits.rlim_cur = std::max(before, std::min<rlim_t>(static_cast<rlim_t>(count), limits.rlim_max));
  if (limits.rlim_cur != before) setrlimit(RLIMIT_NOFILE, &limits);
  return before;
}

std::vector<ProcessLimit> process_limits() {
  auto limits = control_group_limits("/sys/fs/cgroup", read_file_if_there("/proc/self/cgroup").value_or(""));
  // /proc/loadavg counts the whole machine. In a container kernel.pid_max may be the limit of its PID namespace (Linux
  // 6.14); a count above it says nothing about the container.
  const int64_t used = num_threads_of_machine();
  for (const auto& [file, setting] : {std::pair("/proc/sys/kernel/pid_max", "kernel.pid_max"),
                                      std::pair("/proc/sys/kernel/threads-max", "kernel.threads-max")}) {
    if (auto most = number_in(file)) {
      limits.push_back({.name = std::string("processes and threads of this machine (") + setting + ")",
                        .remedy = std::string("raise it with sysctl ") + setting,
                        .most = *most,
                        .used = used < *most ? used : 0});
    }
  }
  rlimit of_user{};
  // Root is exempt from this limit.
  if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &of_user) == 0 && of_user.rlim_cur != RLIM_INFINITY) {
    limits.push_back({.name = "processes and threads of this user (ulimit -u)",
                      .remedy = "raise it with ulimit -u",
                      .most = static_cast<int64_t>(of_user.rlim_cur)});
  }
  auto available = memory_info("MemAvailable:");
  auto total = memory_info("MemTotal:");
  if (available && total) {
    limits.push_back({.name = "memory of this machine",
                      .remedy = "use a machine with more",
                      .most = *total,
                      .used = *total - *available,
                      .of_each_process = kLeastMemory,
                      .unit = " KiB"});
  }
  return limits;
}

}  // namespace accelerate::process
