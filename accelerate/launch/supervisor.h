#pragma once

// Supervises the ranks of a job: if one fails, all are stopped.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "accelerate/launch/machines/outcome.h"
#include "accelerate/process/child_process.h"
#include "accelerate/process/signals.h"

namespace accelerate::launch {

struct Rank {
  int number;
  std::unique_ptr<process::ChildProcess> child;
  std::filesystem::path error_file = {};  // where it reports a crash
};

struct Timeouts {
  std::chrono::milliseconds after_failure = std::chrono::seconds(5);   // until the peers of a failed rank are killed
  std::chrono::milliseconds after_request = std::chrono::seconds(30);  // after a request to stop: ranks may be saving
  std::chrono::milliseconds of_lost_peer = std::chrono::seconds(3);    // until a lost peer ends by itself
};

/// The state of the other machines; called periodically.
using GetRemoteState = std::function<RemoteState()>;

/// Waits until all ranks have ended. If one fails, the others get SIGTERM, then SIGKILL. A request to stop is forwarded
/// to all ranks; a second one kills them. Other signals are only forwarded. Ranks in the shell's job get the terminal's
/// signals directly. Failures on other machines stop the ranks here. While only victims have failed, here and
/// elsewhere, the root cause has `timeouts.of_lost_peer` to end by itself, so that its exit code is known. On return no
/// process of the ranks' groups is running, unless all ranks succeeded. The outcome of a failure has no message yet. If
/// only ranks of another machine failed, the outcome is a success.
Outcome supervise(std::vector<Rank>& ranks, process::SignalWatch& signals, const Timeouts& timeouts = {},
                  const GetRemoteState& remote_state = {});

}  // namespace accelerate::launch
