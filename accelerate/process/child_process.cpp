#include "accelerate/process/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/process/process_tree.h"

namespace accelerate::process {

namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs in the child, so it must be async-signal-safe.
void limit_open_files(uint64_t count) {
  rlimit limits{};
  if (getrlimit(RLIMIT_NOFILE, &limits) != 0) return;
  limits.rlim_cur = count;
  setrlimit(RLIMIT_NOFILE, &limits);
}

/// Runs between fork and exec. Returns only if the program cannot be executed.
void exec_child(const char* path, char** arguments, char** environment, const ChildProcess::Setup& setup,
                pid_t parent) {
  setpgid(0, setup.group.value_or(0));
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the launcher ended before PR_SET_PDEATHSIG was set
  sigprocmask(SIG_SETMASK, &setup.signal_mask, nullptr);
  if (setup.inherited_fd) fcntl(*setup.inherited_fd, F_SETFD, 0);
  if (setup.no_input) dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  if (setup.output) dup2(*setup.output, STDOUT_FILENO);
  if (setup.errors) dup2(*setup.errors, STDERR_FILENO);
  if (setup.open_files) limit_open_files(*setup.open_files);
  if (setup.stopped) ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  execve(path, arguments, environment);
}

/// A traced process stops at exec. It is detached with SIGSTOP pending and waits for a debugger.
void leave_stopped(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) ptrace(PTRACE_DETACH, pid, nullptr, SIGSTOP);
}

}  // namespace

ChildProcess::ChildProcess(const Command& command, const Setup& setup) : joined_group_(setup.group.has_value()) {
  auto arguments = pointers_to(command.arguments);
  auto environment = pointers_to(setup.environment);
  int ends[2];  // close-on-exec: carries the errno of a failed exec
  if (pipe2(ends, O_CLOEXEC) != 0) fail(command.path, " cannot be started: pipe: ", std::strerror(errno));
  auto parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    exec_child(command.path.c_str(), arguments.data(), environment.data(), setup, parent);
    int error = errno;
    [[maybe_unused]] auto written = write(ends[1], &error, sizeof(error));
    _exit(126);
  }
  int error = pid_ < 0 ? errno : 0;
  close(ends[1]);
  if (pid_ > 0) {
    setpgid(pid_, setup.group.value_or(pid_));  // in both processes, because either may run first
    while (read(ends[0], &error, sizeof(error)) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (error == 0) {
    if (setup.stopped) leave_stopped(pid_);
    return;
  }
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  if (pid_ < 0 && error == EAGAIN) {
    fail("'", command.path, "' cannot be started: no more processes are allowed, by the user's limit (ulimit -u), the ",
         "control group (pids.max) or the kernel (kernel.pid_max); start fewer, or raise the limit");
  }
  if (pid_ < 0) fail("'", command.path, "' cannot be started: fork: ", std::strerror(error));
  fail("'", command.path, "' cannot be executed: ", std::strerror(error));
}

ChildProcess::~ChildProcess() {
  if (!wait_status()) send_signal(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<int> ChildProcess::wait_status() {
  if (wait_status_) return wait_status_;
  siginfo_t info{};
  if (waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_) return std::nullopt;
  wait_status_ = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status);
  return wait_status_;
}

void ChildProcess::send_signal(int number) {
  if (!joined_group_) {
    kill(-pid_, number);
    return;
  }
  for (pid_t pid : descendants_of(getpid())) kill(pid, number);  // the group contains other processes
}

Captured run_and_capture(const std::vector<std::string>& words, bool silent) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  auto arguments = pointers_to(words);
  pid_t pid = -1;
  int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Captured result;
  char buffer[4096];
  for (ssize_t size; error == 0 && (size = read(ends[0], buffer, sizeof(buffer))) != 0;) {
    if (size > 0) result.output.append(buffer, static_cast<size_t>(size));
    if (size < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  int status = 0;
  if (error != 0) return result;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = exit_code_of(status);
  return result;
}

}  // namespace accelerate::process
