#include "accelerate/process/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace accelerate::process {

namespace {

struct Process {
  pid_t parent = 0;
  bool ended = false;  // zombie or dead
};

/// Reads /proc/<pid>/stat. The name is in parentheses and may contain any characters, so parsing starts after the last
/// parenthesis.
bool read_process(const char* pid, Process& process) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(("/proc/" + std::string(pid) + "/stat").c_str(), "re"),
                                             std::fclose);
  char text[512] = {};
  if (!file || std::fread(text, 1, sizeof(text) - 1, file.get()) == 0) return false;
  std::string line(text);
  auto bracket = line.rfind(')');
  char state = 0;
  if (bracket == std::string::npos || std::sscanf(line.c_str() + bracket + 1, " %c %d", &state, &process.parent) != 2) {
    return false;
  }
  process.ended = state == 'Z' || state == 'X';
  return true;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> processes;
  std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  while (auto* entry = directory ? readdir(directory.get()) : nullptr) {
    Process process;
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (read_process(entry->d_name, process)) processes[std::atoi(entry->d_name)] = process;
  }
  return processes;
}

}  // namespace

void become_subreaper() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> descendants_of(pid_t root) {
  auto processes = all_processes();
  auto descends = [&](pid_t pid) {
    for (int depth = 0; depth < 1000 && pid > 1; ++depth) {
      auto found = processes.find(pid);
      if (found == processes.end()) return false;
      pid = found->second.parent;
      if (pid == root) return true;
    }
    return false;
  };
  std::vector<pid_t> descendants;
  for (const auto& [pid, process] : processes) {
    if (!process.ended && descends(pid)) descendants.push_back(pid);
  }
  return descendants;
}

void kill_descendants() {
  siginfo_t info{};
  bool childless = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0;
  if (childless) return;  // the usual case; saves reading all of /proc
  using Clock = std::chrono::steady_clock;
  auto until = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < until) {
    auto left = descendants_of(getpid());
    if (left.empty()) return;
    for (pid_t pid : left) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace accelerate::process
