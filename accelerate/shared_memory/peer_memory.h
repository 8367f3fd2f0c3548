#pragma once

// Writes to the private memory of other ranks. Unlike a heap in shared memory, private memory can have huge pages.

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "accelerate/shared_memory/channel.h"

namespace accelerate::shared_memory {

/// Grants sibling ranks access to the memory of this process under Yama. While it lives, all descendants of this
/// process's parent, which starts the ranks, may access the memory of this process. Needed if kernel.yama.ptrace_scope
/// is 1, Ubuntu's default: access then requires an ancestor or PR_SET_PTRACER (prctl(2)). Does nothing on other
/// kernels, with ACCELERATE_SETUP_PTRACER=0, or if the parent is init, since every process descends from it. A process
/// has one tracer setting at a time, so this replaces one that a crash handler has made.
class PeerPermission {
 public:
  PeerPermission();
  PeerPermission(const PeerPermission&) = delete;
  PeerPermission& operator=(const PeerPermission&) = delete;
  ~PeerPermission();

 private:
  bool granted_;
};

/// Writes to other processes with process_vm_writev(2), which Linux allows between processes of one user unless Yama's
/// ptrace_scope or a seccomp filter forbids it. Ranks in separate containers do not see each other's processes. If the
/// first attempt fails, each rank grants its siblings access while this object lives (PeerPermission) and tries again.
class PeerMemory {
 public:
  /// reachable() is false.
  PeerMemory() = default;

  /// Probes whether every rank can write to every other. Collective; all ranks get the same result.
  explicit PeerMemory(Channel& channel);

  bool reachable() const { return reachable_; }

  /// Copies `bytes` to the address `there` in the process of `rank`. That rank must not use this memory meanwhile. Does
  /// nothing if that process has ended: the next collective of the group throws then. Requires reachable().
  void write(int rank, std::byte* there, std::span<const std::byte> bytes) const;

 private:
  bool try_all(Channel& channel);

  std::unique_ptr<PeerPermission> permission_;
  std::vector<pid_t> processes_;  // by rank
  bool reachable_ = false;
};

}  // namespace accelerate::shared_memory
