#include "accelerate/shared_memory/peer_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/base/thread_without_signals.h"

namespace accelerate::shared_memory {

Descriptor own_process_descriptor() {
  Descriptor descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!descriptor) fail("this process cannot be watched by others: pidfd_open: ", std::strerror(errno));
  return descriptor;
}

PeerWatch::PeerWatch(std::vector<Descriptor> processes, std::function<void(int index)> on_end)
    : processes_(std::move(processes)), on_end_(std::move(on_end)), stop_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_) fail("the other ranks cannot be watched: eventfd: ", std::strerror(errno));
  thread_ = thread_without_signals([this] { run(); });
}

PeerWatch::~PeerWatch() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

void PeerWatch::run() {
  std::vector<pollfd> watched;
  for (const auto& process : processes_) watched.push_back({process.get(), POLLIN, 0});
  watched.push_back({stop_.get(), POLLIN, 0});
  while (true) {
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched.back().revents != 0) return;
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (watched[i].revents == 0) continue;
      watched[i].fd = -1;
      on_end_(static_cast<int>(i));
    }
  }
}

}  // namespace accelerate::shared_memory
