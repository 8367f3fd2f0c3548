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
  bool lost_peer = false;             // the rank to blame failed because of one that has not failed here
  std::chrono::system_clock::time_point failed_at = {};  // when that rank's failure began
};

struct Patience {
  std::chrono::milliseconds with_peers = std::chrono::seconds(5);  // of a failed rank, before they are killed
  std::chrono::milliseconds on_request =
      std::chrono::seconds(30);  // when the launcher was told to stop: ranks may be saving
  std::chrono::milliseconds with_lost_peer = std::chrono::seconds(3);  // which may still be on its way to its end
};

/// What is known of the other machines: a rank there has lost a peer, which may be one of this machine, or has failed.
enum class Elsewhere { Running, LostPeer, Failed };

/// Called now and then.
using LookElsewhere = std::function<Elsewhere()>;

/// Waits until all ranks have ended. When one fails, the others get SIGTERM, and later SIGKILL. A signal to stop is
/// passed on to every rank at once; a second one kills them. Other signals are passed on, and that is all. Ranks that
/// are in the shell's job get from the terminal itself what that sends. When ranks have failed elsewhere, those here
/// are stopped too. As long as only ranks that lost a peer have failed, here and elsewhere, the one to blame has
/// `patience.with_lost_peer` to end by itself, so that its exit code is known. Afterwards no process of the ranks'
/// groups runs any more, unless all succeeded.
Verdict supervise(std::vector<Rank>& ranks, SignalWatch& signals, const Patience& patience = {},
                  const LookElsewhere& look_elsewhere = {});

}  // namespace accelerate::launch
