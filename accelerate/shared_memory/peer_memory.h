#pragma once

// The private memory of the other ranks: what a rank keeps outside the heaps, where it can have huge pages.

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/peer_permission.h"

namespace accelerate::shared_memory {

/// Writes to addresses of other processes. Linux lets processes of one user do so (process_vm_writev), unless Yama's
/// ptrace_scope or a seccomp filter is against it; ranks in containers of their own do not see each other's processes.
/// Where they may not, each rank allows those beside it to do so, for as long as this exists, if that helps.
class PeerMemory {
 public:
  /// Reaches nobody.
  PeerMemory() = default;

  /// Tries whether every rank can write to every other. Collective; the outcome is the same on all ranks.
  explicit PeerMemory(Channel& channel);

  bool reachable() const { return reachable_; }

  /// Copies `bytes` to `there`, an address of `rank`, which has to know of it. Nothing happens when that process has
  /// ended: whoever meets its group next is told so. Only where reachable().
  void write(int rank, std::byte* there, std::span<const std::byte> bytes) const;

 private:
  bool try_all(Channel& channel);

  std::unique_ptr<PeerPermission> permission_;
  std::vector<pid_t> processes_;  // by rank
  bool reachable_ = false;
};

}  // namespace accelerate::shared_memory
