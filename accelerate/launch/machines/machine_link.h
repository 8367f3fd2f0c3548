#pragma once

// Connects the launchers of a job's machines, so that the ranks of all machines start, fail and restart together.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/launch/machines/line_socket.h"
#include "accelerate/launch/supervisor.h"
#include "accelerate/process/signals.h"

namespace accelerate::launch {

/// How the ranks of a machine or of a job ended. Ranks that were stopped because of others have not failed.
struct Ending {
  int exit_code = 0;
  std::string message = {};
  bool may_retry = false;
  bool lost_peer = false;         // the blamed rank is a victim of a rank that did not fail on its machine
  int64_t unix_milliseconds = 0;  // when the failure began
};

/// The ending of ranks that the user has stopped.
Ending stopped_by(int signal_number);

/// What the machines do after the ranks of all machines have ended.
struct Decision {
  bool again = false;         // restart
  int main_process_port = 0;  // of the restart, on machine 0
  Ending ending = {};         // of the job: the ending of the root-cause machine, worded for this machine
};

/// One launcher's end. Machine 0 collects all endings and decides. The root cause is the machine that failed first by
/// the machines' clocks; machines with only victims come last.
class MachineLink {
 public:
  virtual ~MachineLink() = default;

  /// The state of the other machines since the ranks were started. If one has failed or is unreachable, this machine
  /// must stop its ranks.
  virtual Elsewhere look_elsewhere() = 0;

  /// Reports how the ranks of this machine ended, waits for all machines, and returns the decision. They restart if
  /// every machine that failed allows it, all are reachable, and `starts_left`. A signal to stop ends the job.
  virtual Decision settle(Ending mine, bool starts_left, process::SignalWatch& signals) = 0;
};

/// The end of machine 0, with the connections to machines 1, 2, ... Rank 0 uses `port` in every attempt, or a free one
/// each time if it is 0.
std::unique_ptr<MachineLink> link_as_main_machine(std::vector<LineSocket> others, int port);

/// The end of any other machine.
std::unique_ptr<MachineLink> link_to_main_machine(LineSocket main_machine);

}  // namespace accelerate::launch
