#pragma once

// How the ranks of a machine, or of a job, ended.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "accelerate/process/exit_status.h"

namespace accelerate::launch {

/// Ranks that were stopped because of others have not failed.
struct Outcome {
  int exit_code = 0;              // of the root cause, or 128 + the signal
  std::string message = {};       // for the user; empty on success
  bool may_retry = false;         // a restart may succeed
  bool lost_peer = false;         // the root cause here is a victim of a rank of another machine
  int64_t unix_milliseconds = 0;  // when the failure began

  // Of the ranks of this machine:
  std::optional<size_t> failed = {};  // the index of the root cause
  bool others_stopped = false;        // because of it
  int stopped_by = 0;                 // the signal by which the user ended the job, even if it was failing already
};

/// The state of the other machines. LostPeer: a rank there has lost a peer, which may be on this machine.
enum class RemoteState { Running, LostPeer, Failed };

inline int64_t now_in_milliseconds() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// The outcome of ranks that the user has stopped.
inline Outcome stopped_by_signal(int number) {
  return {.exit_code = 128 + number,
          .message = "stopped by " + process::signal_name(number),
          .unix_milliseconds = now_in_milliseconds(),
          .stopped_by = number};
}

}  // namespace accelerate::launch
