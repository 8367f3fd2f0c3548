#pragma once

// Watches the ranks of a job: all end well, or the first that fails ends all.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "accelerate/launch/child_process.h"
#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

struct Rank {
  int number;
  std::unique_ptr<ChildProcess> process;
  std::filesystem::path error_file = {};  // where it reports a crash
};

struct Verdict {
  int exit_code = 0;                  // of the rank to blame, or 128 + the signal
  std::optional<size_t> failed = {};  // the rank to blame
  bool others_stopped = false;        // because of it
  int stopped_by = 0;                 // the signal with which the user ended the job, or one that was failing
  bool failed_elsewhere = false;      // on another machine: the ranks here were stopped because of it
};

struct Patience {
  std::chrono::milliseconds with_peers = std::chrono::seconds(5);  // of a failed rank, before they are killed
  std::chrono::milliseconds on_request =
      std::chrono::seconds(30);  // when the launcher was told to stop: ranks may be saving
};

/// Whether the ranks of another machine have failed. Called now and then.
using FailedElsewhere = std::function<bool()>;

/// Waits until all ranks have ended. When one fails, the others get SIGTERM, and later SIGKILL. A signal to stop is
/// passed on to every rank at once; a second one kills them. Other signals are passed on, and that is all. Ranks that
/// are in the shell's job get from the terminal itself what that sends. When ranks have failed elsewhere, those here
/// are stopped too. Afterwards no process of the ranks' groups runs any more, unless all succeeded.
Verdict supervise(std::vector<Rank>& ranks, SignalWatch& signals, const Patience& patience = {},
                  const FailedElsewhere& failed_elsewhere = {});

}  // namespace accelerate::launch
