#pragma once

// Supervises the ranks of a job: if one fails, all are stopped.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "accelerate/process/child_process.h"
#include "accelerate/process/signals.h"

namespace accelerate::launch {

struct Rank {
  int number;
  std::unique_ptr<process::ChildProcess> child;
  std::filesystem::path error_file = {};  // where it reports a crash
};

struct Verdict {
  int exit_code = 0;                  // of the root cause, or 128 + the signal
  std::optional<size_t> failed = {};  // the root cause
  bool others_stopped = false;        // because of it
  int stopped_by = 0;                 // the signal by which the user ended the job, even if it was failing already
  bool failed_elsewhere = false;      // the ranks here were stopped because of another machine
  bool lost_peer = false;             // the blamed rank is a victim of a rank that has not failed here
  std::chrono::system_clock::time_point failed_at = {};  // when the failure of the blamed rank began
};

struct Patience {
  std::chrono::milliseconds with_peers = std::chrono::seconds(5);      // until the peers of a failed rank are killed
  std::chrono::milliseconds on_request = std::chrono::seconds(30);     // after a request to stop: ranks may be saving
  std::chrono::milliseconds with_lost_peer = std::chrono::seconds(3);  // until a lost peer ends by itself
};

/// The state of the other machines. LostPeer: a rank there has lost a peer, which may be on this machine.
enum class Elsewhere { Running, LostPeer, Failed };

/// Called periodically.
using LookElsewhere = std::function<Elsewhere()>;

/// Waits until all ranks have ended. If one fails, the others get SIGTERM, then SIGKILL. A request to stop is forwarded
/// to all ranks; a second one kills them. Other signals are only forwarded. Ranks in the shell's job get the terminal's
/// signals directly. Failures on other machines stop the ranks here. While only victims have failed, here and
/// elsewhere, the root cause has `patience.with_lost_peer` to end by itself, so that its exit code is known. On return
/// no process of the ranks' groups is running, unless all ranks succeeded.
Verdict supervise(std::vector<Rank>& ranks, process::SignalWatch& signals, const Patience& patience = {},
                  const LookElsewhere& look_elsewhere = {});

}  // namespace accelerate::launch
