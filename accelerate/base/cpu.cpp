#include "accelerate/base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "accelerate/base/environment.h"
#include "accelerate/base/read_file.h"

namespace accelerate {

namespace {

std::string read_text(const std::filesystem::path& path) { return read_file_if_there(path).value_or(""); }

int logical_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

/// The control group of this process: the line "0::/path" in cgroup v2, the line of the cpu controller in v1.
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

/// The quota of one control group. v2: cpu.max holds "<quota or max> <period>"; v1 has a file for each.
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
    // A container often sees only its own group, mounted at the root. The path below it then does not exist.
    for (;; directory = directory.parent_path()) {
      if (auto cores = quota_of(directory)) smallest = std::min(smallest.value_or(*cores), *cores);
      if (directory == top || directory / "" == top || directory == directory.parent_path()) break;
    }
  }
  return smallest;
}

std::vector<int> allowed_cores() {
  cpu_set_t allowed;
  const bool known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  std::vector<int> cores;
  for (int core = 0; core < (known ? CPU_SETSIZE : logical_cores()); ++core) {
    if (!known || CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

std::vector<int> cores_of_process(const std::vector<int>& cores, int index, int count) {
  const auto available = static_cast<int>(cores.size());
  const int each = std::max(1, available / count);
  const int first = index * each % available;
  return {cores.begin() + first, cores.begin() + std::min(first + each, available)};
}

bool pin_to_cores(const std::vector<int>& cores) {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (int core : cores) CPU_SET(core, &wanted);
  return sched_setaffinity(0, sizeof(wanted), &wanted) == 0;
}

int physical_cores() {
  int cores = count_physical_cores(read_text("/proc/cpuinfo"));
  return cores > 0 ? cores : logical_cores();
}

int available_cores() {
  auto quota = control_group_cores("/sys/fs/cgroup", own_control_group());
  return std::max(1, std::min(static_cast<int>(allowed_cores().size()), quota.value_or(logical_cores())));
}

int usable_cores() { return std::min(physical_cores(), available_cores()); }

std::optional<int> wanted_threads() {
  constexpr const char* kName = "OMP_NUM_THREADS";
  auto list = environment_variable(kName).value_or("");
  auto outermost = list.substr(0, list.find_first_of(", "));
  if (outermost.empty()) return std::nullopt;
  const auto threads = static_cast<int>(parse_integer(kName, outermost));
  return threads > 0 ? std::optional(threads) : std::nullopt;
}

int threads_per_process(int num_processes) { return std::max(1, usable_cores() / num_processes); }

}  // namespace accelerate
