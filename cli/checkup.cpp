#include "cli/checkup.h"

#include <netdb.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "accelerate/base/byte_size.h"
#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/user_directories.h"
#include "accelerate/base/version.h"
#include "accelerate/config/launch_config.h"
#include "accelerate/launch/job_directory.h"
#include "accelerate/launch/machines/network.h"
#include "cli/machine.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEnoughSharedMemory = uint64_t{256} << 20;
constexpr rlim_t kEnoughFiles = 1024;
constexpr int kUsualPort = 29500;  // of torchrun and of Python's launcher

/// What all processes that this user may look into have mapped or opened below `directory`.
std::set<std::string> files_in_use(const fs::path& directory) {
  std::set<std::string> files;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    std::ifstream maps(process.path() / "maps");
    for (std::string line; std::getline(maps, line);) {
      auto path = line.find(directory.string() + "/");
      if (path != std::string::npos) files.insert(line.substr(path));
    }
    // A process may end meanwhile, which only this form of the loop does not throw for.
    fs::directory_iterator open(process.path() / "fd", error);
    for (; !error && open != fs::directory_iterator(); open.increment(error)) {
      std::error_code gone;
      files.insert(fs::read_symlink(open->path(), gone).string());
    }
  }
  return files;
}

/// The files of this user in `directory` whose names begin with one of the prefixes.
std::vector<fs::path> own_files(const fs::path& directory, const std::vector<std::string>& prefixes) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    auto name = entry.path().filename().string();
    struct stat status{};
    bool mine = lstat(entry.path().c_str(), &status) == 0 && status.st_uid == geteuid();
    bool ours =
        std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) { return name.starts_with(prefix); });
    if (mine && ours) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string plural(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

Finding check_versions(const std::string& first_in_path) {
  auto seen = std::string("accelerate ") + kVersion + " for libtorch " + ACCELERATE_COMMAND_TORCH + ", " + own_path();
  std::error_code error;
  if (first_in_path.empty() || fs::equivalent(first_in_path, own_path(), error)) return {seen};
  return {seen, "PATH has another accelerate first: " + first_in_path + "; use the path of this one, or change PATH"};
}

Finding check_config_file(const fs::path& file) {
  if (!fs::exists(file)) return {"no configuration at " + file.string() + "; launch uses its defaults"};
  try {
    auto config = config::read_launch_config(file);
    if (config.upgrades.empty()) return {"configuration " + file.string()};
    return {"configuration " + file.string() + " has an older version", "run accelerate config update"};
  } catch (const Error& problem) {
    return {"configuration " + file.string() + " cannot be used", problem.what()};
  }
}

Finding check_rank_variables() {
  for (auto name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    auto value = environment_variable(name);
    if (!value) continue;
    return {std::string(name) + " is " + *value + " in this shell",
            std::string("a program started here would wait for the other ranks of a job; unset ") + name};
  }
  return {"no rank in this shell's environment"};
}

Finding check_threads() {
  int cores = available_cores();
  auto threads = wanted_threads();
  if (threads && *threads > cores) {
    return {"OMP_NUM_THREADS is " + std::to_string(*threads) + ", but " + plural(cores, "core") + " can be used",
            "unset it; launch divides the cores among the processes"};
  }
  auto seen = plural(cores, "core") + " of " + std::to_string(physical_cores()) + " can be used, OMP_NUM_THREADS is ";
  return {seen + (threads ? std::to_string(*threads) : "not set")};
}

Finding check_shared_memory_size(const fs::path& directory) {
  struct statvfs status{};
  if (statvfs(directory.c_str(), &status) != 0) {
    return {directory.string() + " is missing", "mount a tmpfs there; processes exchange data through it"};
  }
  uint64_t size = static_cast<uint64_t>(status.f_blocks) * status.f_frsize;
  uint64_t available = static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
  auto seen = directory.string() + " has " + format_bytes(available) + " free of " + format_bytes(size);
  if (available >= kEnoughSharedMemory) return {seen};
  return {seen, "processes exchange data through it; in a container, start it with --shm-size=1g or more"};
}

Finding check_stale_shared_memory(const fs::path& directory) {
  // In this order: a job that starts meanwhile makes files that are not looked at.
  auto files = own_files(directory, {"accelerate_", "torch_", "gloo_"});
  auto in_use = files_in_use(directory);
  std::vector<fs::path> stale;
  uint64_t bytes = 0;
  for (const auto& file : files) {
    if (in_use.contains(file.string())) continue;
    std::error_code error;
    auto size = fs::file_size(file, error);
    if (error) continue;  // its job has ended meanwhile, and removed it
    stale.push_back(file);
    bytes += size;
  }
  if (stale.empty()) return {"no stale shared memory"};
  return {plural(stale.size(), "file") + " of ended jobs in " + directory.string() + " (" + format_bytes(bytes) + ")",
          "no process uses them; remove them; the first is " + stale.front().string()};
}

Finding check_left_over_jobs(const fs::path& directory) {
  auto jobs = own_files(directory, {"accelerate_launch_"});
  auto num_running = std::erase_if(jobs, launch::is_in_use);
  std::erase_if(jobs, [](const fs::path& job) { return !fs::exists(job); });  // it has ended meanwhile
  auto running = num_running == 0 ? "" : "; " + plural(num_running, "job") + (num_running == 1 ? " runs" : " run");
  if (jobs.empty()) return {"no reports of crashed jobs in " + directory.string() + running};
  return {plural(jobs.size(), "report") + " of crashed jobs in " + directory.string() + running,
          "read and remove them; the first is " + jobs.front().string()};
}

Finding check_port(int port) {
  try {
    launch::check_port_is_free(port);
    return {"port " + std::to_string(port) + " is free"};
  } catch (const Error& problem) {
    return {problem.what(),
            "on one machine launch chooses another port; for several machines, set --main_process_port"};
  }
}

Finding check_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  auto seen = "a process may open " + std::to_string(limit.rlim_cur) + " files";
  if (limit.rlim_cur >= kEnoughFiles) return {seen};
  return {seen, "many ranks and data workers need more; run ulimit -n 4096"};
}

Finding check_host_name(const std::string& name) {
  addrinfo* found = nullptr;
  int error = getaddrinfo(name.c_str(), nullptr, nullptr, &found);
  if (error == 0) {
    freeaddrinfo(found);
    return {"the host name " + name + " has an address"};
  }
  return {"the host name " + name + " has no address: " + gai_strerror(error),
          "add it to /etc/hosts; for jobs on several machines set --main_process_ip to a numeric address"};
}

Finding check_temporary_directory() {
  std::error_code error;
  const auto directory = temporary_directory().path;
  if (fs::is_directory(directory, error)) return check_left_over_jobs(directory);
  return {"there is no directory " + directory.string() + " for temporary files",
          "create it, or set TMPDIR to another one"};
}

std::vector<Finding> check_machine() {
  return {check_versions(find_in_path("accelerate")),
          check_config_file(config::default_config_file()),
          check_rank_variables(),
          check_threads(),
          check_shared_memory_size("/dev/shm"),
          check_stale_shared_memory("/dev/shm"),
          check_temporary_directory(),
          check_port(kUsualPort),
          check_open_files(),
          check_host_name(host_name())};
}

}  // namespace accelerate::cli
