#pragma once

// What a process has to say before ranks beside it may write to its memory.

namespace accelerate::shared_memory {

/// While one of these exists, the processes below this one's parent, which starts the ranks, may reach its memory. For
/// kernels with Yama where kernel.yama.ptrace_scope is 1, as by default on Ubuntu: there a process of the same user may
/// not, unless it is an ancestor or the process agrees (PR_SET_PTRACER). Does nothing elsewhere, and nothing below
/// init, which all processes are below. A process agrees with one other at a time, so this replaces what a crash
/// handler said.
class PeerPermission {
 public:
  PeerPermission();
  PeerPermission(const PeerPermission&) = delete;
  PeerPermission& operator=(const PeerPermission&) = delete;
  ~PeerPermission();
};

}  // namespace accelerate::shared_memory
