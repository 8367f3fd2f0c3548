#include "accelerate/launch/run_and_capture.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "accelerate/base/exit_status.h"

namespace accelerate::launch {

Captured run_and_capture(const std::vector<std::string>& words, bool silent) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
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

}  // namespace accelerate::launch
