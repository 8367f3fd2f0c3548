#pragma once

// Notices the end of other processes at once, however they end.

#include <functional>
#include <thread>
#include <vector>

#include "accelerate/base/descriptor.h"

namespace accelerate::shared_memory {

/// A descriptor of this process that others can watch, in other PID namespaces too. Throws Error where the system has
/// none.
Descriptor own_process_descriptor();

/// Calls `on_end(index)`, from a thread of its own, for each of the processes that ends.
class PeerWatch {
 public:
  /// A process without a descriptor is not watched.
  PeerWatch(std::vector<Descriptor> processes, std::function<void(int index)> on_end);
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  /// No call is made after this.
  ~PeerWatch();

 private:
  void run();

  std::vector<Descriptor> processes_;
  std::function<void(int index)> on_end_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace accelerate::shared_memory
