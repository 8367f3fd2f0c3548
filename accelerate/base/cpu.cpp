#include "accelerate/base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

namespace accelerate {

namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int logical_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

int affinity_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return logical_cores();
  return std::max(1, CPU_COUNT(&allowed));
}

/// The group of this process: the line "0::/path" of version 2, or the one of the cpu controller of version 1.
std::string own_control_group() {
  std::istringstream lines(read_text("/proc/self/cgroup"));
  std::string group = "/";
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string hierarchy, controllers, path;
    std::getline(fields, hierarchy, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    controllers += ',';
    if (controllers == "," || controllers.starts_with("cpu,") || controllers.find(",cpu,") != std::string::npos) {
      group = path;
    }
  }
  return group;
}

/// The quota of one group's directory: "cpu.max" holds "<quota or max> <period>", version 1 has a file for each.
std::optional<int> quota_of(const std::filesystem::path& directory) {
  double quota = 0;
  double period = 0;
  std::istringstream both(read_text(directory / "cpu.max"));
  if (!(both >> quota >> period)) {
    std::istringstream quota_text(read_text(directory / "cpu.cfs_quota_us"));
    std::istringstream period_text(read_text(directory / "cpu.cfs_period_us"));
    if (!(quota_text >> quota) || !(period_text >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

}  // namespace

int count_physical_cores(std::string_view cpuinfo) {
  std::set<std::pair<std::string, std::string>> cores;
  std::istringstream lines{std::string(cpuinfo)};
  std::string package;
  for (std::string line; std::getline(lines, line);) {
    auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("physical id")) package = line.substr(colon + 2);
    if (line.starts_with("core id")) cores.emplace(package, line.substr(colon + 2));
  }
  return static_cast<int>(cores.size());
}

std::optional<int> control_group_cores(const std::filesystem::path& root, const std::string& group) {
  std::optional<int> smallest;
  for (const char* controller : {"", "cpu"}) {
    auto directory = (root / controller / std::filesystem::path(group).relative_path()).lexically_normal();
    auto top = (root / controller).lexically_normal();
    // A container often sees only its own group, mounted at the root; then the path below it does not exist.
    for (;; directory = directory.parent_path()) {
      if (auto cores = quota_of(directory)) smallest = std::min(smallest.value_or(*cores), *cores);
      if (directory == top || directory / "" == top || directory == directory.parent_path()) break;
    }
  }
  return smallest;
}

int physical_cores() {
  int cores = count_physical_cores(read_text("/proc/cpuinfo"));
  return cores > 0 ? cores : logical_cores();
}

int available_cores() {
  auto quota = control_group_cores("/sys/fs/cgroup", own_control_group());
  return std::min(affinity_cores(), quota.value_or(logical_cores()));
}

}  // namespace accelerate
