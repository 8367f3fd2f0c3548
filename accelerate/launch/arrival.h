#pragma once

// The launchers of several machines meet before they start anything, and stay connected. Machines may have their ranks
// or get them in the order in which they arrive.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/launch/line_socket.h"
#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

/// What all machines of a job have to agree on.
struct JobShape {
  int num_machines = 1;
  int num_processes = 1;
};

struct Arrival {
  int machine_rank = 0;
  int main_process_port = 0;            // where rank 0 will meet the others, on the machine where the launchers met
  int stopped_by = 0;                   // the signal that ended the waiting; the rest is then void
  std::vector<LineSocket> others = {};  // on machine 0 to machines 1, 2, ...; on those to machine 0
};

/// Called by the launcher of every machine. Machine 0 listens on `port` of `host` and waits for the others; they
/// connect to it, however late it comes, and rank 0 gets that port afterwards. Without a `machine_rank` the one that
/// can listen there is machine 0, and rank 0 gets a port of its own. Returns when all are there. Throws Error on all of
/// them when their shapes differ or two claim a rank, and after `timeout`. Strangers who connect are sent away.
Arrival arrive(const std::string& host, int port, const JobShape& shape, std::optional<int> machine_rank,
               std::chrono::seconds timeout, SignalWatch& signals);

}  // namespace accelerate::launch
