#pragma once

// Watches other processes through pidfds (pidfd_open(2)), so that the end of one is noticed at once.

#include <functional>
#include <thread>
#include <vector>

#include "accelerate/base/descriptor.h"

namespace accelerate::shared_memory {

/// A pidfd of this process, which works in other PID namespaces too. Throws Error if the kernel has no pidfds.
Descriptor own_process_descriptor();

/// Calls `on_end(index)` from a background thread for each process that ends.
class PeerWatch {
 public:
  /// A process without a descriptor is not watched.
  PeerWatch(std::vector<Descriptor> processes, std::function<void(int index)> on_end);
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  /// Joins the thread: `on_end` is not called afterwards.
  ~PeerWatch();

 private:
  void run();

  std::vector<Descriptor> processes_;
  std::function<void(int index)> on_end_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace accelerate::shared_memory
