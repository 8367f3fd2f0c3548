#pragma once

// Grants sibling ranks access to the memory of this process under Yama.

namespace accelerate::shared_memory {

/// While it lives, all descendants of this process's parent, which starts the ranks, may access the memory of this
/// process. Needed if kernel.yama.ptrace_scope is 1, Ubuntu's default: access then requires an ancestor or
/// PR_SET_PTRACER (prctl(2)). Does nothing on other kernels, with ACCELERATE_SETUP_PTRACER=0, or if the parent is init,
/// since every process descends from it. A process has one tracer setting at a time, so this replaces one that a crash
/// handler has made.
class PeerPermission {
 public:
  PeerPermission();
  PeerPermission(const PeerPermission&) = delete;
  PeerPermission& operator=(const PeerPermission&) = delete;
  ~PeerPermission();

 private:
  bool granted_;
};

}  // namespace accelerate::shared_memory
