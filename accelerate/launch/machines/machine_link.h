#pragma once

// Connects the launchers of a job's machines, so that the ranks of all machines start, fail and restart together.

#include <memory>
#include <string>
#include <vector>

#include "accelerate/launch/machines/line_socket.h"
#include "accelerate/launch/machines/outcome.h"
#include "accelerate/process/signals.h"

namespace accelerate::launch {

/// What the machines do after the ranks of all machines have ended.
struct Decision {
  bool again = false;         // restart
  int main_process_port = 0;  // of the restart, on machine 0
  Outcome outcome = {};       // of the job: the outcome of the root-cause machine, worded for this machine
};

/// The endpoint of one launcher. Machine 0 collects all outcomes and decides. The root cause is the machine that failed
/// first, by the clock of each machine. A machine with only victims can be the root cause only if all failed machines
/// have only victims.
class MachineLink {
 public:
  virtual ~MachineLink() = default;

  /// The state of the other machines since the ranks were started. If one has failed or is unreachable, this machine
  /// must stop its ranks.
  virtual RemoteState remote_state() = 0;

  /// Reports how the ranks of this machine ended, waits for all machines, and returns the decision. They restart if
  /// every machine that failed allows it, all are reachable, and `starts_left`. A signal to stop ends the job.
  virtual Decision settle(Outcome mine, bool starts_left, process::SignalWatch& signals) = 0;
};

/// The endpoint on machine 0. `others` are the connections to machines 1, 2, ... Rank 0 uses `port` in every attempt;
/// if it is 0, a free port in each attempt.
std::unique_ptr<MachineLink> link_as_main_machine(std::vector<LineSocket> others, int port);

/// The endpoint on any other machine.
std::unique_ptr<MachineLink> link_to_main_machine(LineSocket main_machine);

}  // namespace accelerate::launch
