#pragma once

// The launchers of a job's machines, connected: the ranks of all machines start, fail and start again together.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/launch/line_socket.h"
#include "accelerate/launch/signal_watch.h"
#include "accelerate/launch/supervisor.h"

namespace accelerate::launch {

/// How the ranks of a machine, or of a job, have ended. Ranks that were stopped because of others have not failed.
struct Ending {
  int exit_code = 0;
  std::string message = {};
  bool may_retry = false;
  bool lost_peer = false;         // the rank to blame failed because of a rank that did not fail on its machine
  int64_t unix_milliseconds = 0;  // when the failure began
};

/// That of ranks which the user has stopped.
Ending stopped_by(int signal_number);

/// What the machines do next, when the ranks of all have ended.
struct Decision {
  bool again = false;         // they start once more,
  int main_process_port = 0;  // with rank 0 on this port of machine 0
  Ending ending = {};         // of the job: that of the machine to blame, in words for this machine
};

/// One launcher's side. Machine 0 hears of all endings and decides. To blame is a machine whose rank did not fail
/// because of a lost peer, if there is one, and among those the first that failed, by the machines' clocks.
class MachineLink {
 public:
  virtual ~MachineLink() = default;

  /// What has become of the other machines since the ranks were started. When one has failed, or is gone, this
  /// machine's ranks are to stop.
  virtual Elsewhere look_elsewhere() = 0;

  /// Tells how the ranks of this machine have ended, waits until those of all machines have, and returns what comes
  /// next. There is another start when every machine that failed allows it, none is gone, and
  /// `starts_left`. A signal to stop ends the job.
  virtual Decision settle(Ending mine, bool starts_left, SignalWatch& signals) = 0;
};

/// The side of machine 0, with the connections to machines 1, 2, ... Rank 0 keeps `port` from start to start; when that
/// is 0, it gets a free one each time.
std::unique_ptr<MachineLink> link_as_main_machine(std::vector<LineSocket> others, int port);

/// The side of another machine.
std::unique_ptr<MachineLink> link_to_main_machine(LineSocket main_machine);

}  // namespace accelerate::launch
