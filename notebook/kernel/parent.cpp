#include "notebook/kernel/parent.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/thread_without_signals.h"

namespace accelerate::notebook {

void end_with_parent() {
  const auto process = environment_integer({"JPY_PARENT_PID"});
  if (!process) return;
  Descriptor parent(static_cast<int>(syscall(SYS_pidfd_open, *process, 0)));
  if (!parent && errno == ESRCH) _exit(1);
  if (!parent) return;
  thread_without_signals([parent = std::move(parent)] {
    pollfd ended{.fd = parent.get(), .events = POLLIN, .revents = 0};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
    _exit(0);
  }).detach();
}

}  // namespace accelerate::notebook
