#include "notebook/worker/process_copy.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "notebook/protocol/frames.h"
#include "notebook/worker/interrupts.h"

namespace accelerate::notebook {

namespace {

std::optional<std::string> read_result(int pipe, std::optional<std::chrono::milliseconds> limit) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + limit.value_or(std::chrono::milliseconds(0));
  FrameReader reader(pipe);
  std::optional<std::string> result;
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{pipe, POLLIN, 0};
    int count = poll(&ready, 1, limit ? static_cast<int>(std::max<long>(left, 0)) : -1);
    if (count < 0 && errno == EINTR && !was_interrupted()) continue;
    if (count <= 0) return std::nullopt;
    bool more = reader.read_some();
    while (auto frame = reader.take()) result = frame;
    if (!more) return result;
  }
}

}  // namespace

void Copy::note(const std::string& result) const { write_frame(pipe_, result); }

void Copy::end() const { _exit(0); }

std::optional<std::string> ask_copy(const std::function<void(const Copy&)>& work,
                                    std::optional<std::chrono::milliseconds> limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("the notebook cannot run a trial of the cell: pipe: ", std::strerror(errno));
  pid_t copy = fork();
  if (copy == 0) {
    try {
      work(Copy(ends[1]));
    } catch (...) {  // is no result, and must not go on in the callers of this function
    }
    _exit(0);
  }
  close(ends[1]);
  ScopeExit close_pipe([&] { close(ends[0]); });
  if (copy < 0) fail("the notebook cannot run a trial of the cell: fork: ", std::strerror(errno));
  auto result = read_result(ends[0], limit);
  kill(copy, SIGKILL);
  while (waitpid(copy, nullptr, 0) < 0 && errno == EINTR) {
  }
  return result;
}

}  // namespace accelerate::notebook
