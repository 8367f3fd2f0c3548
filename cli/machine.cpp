#include "cli/machine.h"

#include <gnu/libc-version.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "accelerate/base/environment.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;

/// The value of the first line "key : value" of a file below /proc.
std::string value_in(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    auto colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

}  // namespace

std::string platform_name() {
  utsname system{};
  uname(&system);
  return std::string(system.sysname) + "-" + system.release + "-" + system.machine + "-with-glibc" +
         gnu_get_libc_version();
}

std::string cpu_name() {
  auto name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    names.push_back(value_in(gpu.path() / "information", "Model"));
  }
  return names;
}

uint64_t memory_bytes() {
  struct sysinfo info{};
  sysinfo(&info);
  return static_cast<uint64_t>(info.totalram) * info.mem_unit;
}

std::string own_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

std::string find_in_path(const std::string& program) {
  std::istringstream directories(environment_variable("PATH").value_or(""));
  for (std::string directory; std::getline(directories, directory, ':');) {
    auto path = (directory.empty() ? fs::path(".") : fs::path(directory)) / program;
    std::error_code error;
    if (fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0) return path.string();
  }
  return "";
}

}  // namespace accelerate::cli
