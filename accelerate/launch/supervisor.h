#pragma once

// Watches the ranks of a job: all end well, or the first that fails ends all.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/launch/child_process.h"
#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

struct Rank {
  int number;
  std::unique_ptr<ChildProcess> process;
};

struct Outcome {
  int exit_code = 0;         // of the first rank that failed, or 128 + the signal
  std::string message = {};  // what happened; empty when all went well
};

struct Patience {
  std::chrono::milliseconds with_peers = std::chrono::seconds(5);  // of a failed rank, before they are killed
  std::chrono::milliseconds on_request =
      std::chrono::seconds(30);  // when the launcher was told to stop: ranks may be saving
};

/// Waits until all ranks have ended. When one fails, the others get SIGTERM, and later SIGKILL. A signal to stop is
/// passed on to every rank at once; a second one kills them. Afterwards nothing of the ranks runs any more, unless all
/// succeeded.
Outcome supervise(std::vector<Rank>& ranks, SignalWatch& signals, const std::string& program,
                  const Patience& patience = {});

}  // namespace accelerate::launch
