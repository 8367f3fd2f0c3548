#pragma once

// Machines that get their rank in the order in which they arrive: the launchers meet before they start anything.

#include <chrono>
#include <string>

#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

/// What all machines of a job have to agree on.
struct JobShape {
  int num_machines = 1;
  int num_processes = 1;
};

struct Arrival {
  int machine_rank = 0;
  int main_process_port = 0;  // where rank 0 will meet the others, on the machine where the launchers met
  int stopped_by = 0;         // the signal that ended the waiting; the rest is then void
};

/// Called by the launcher of every machine. The one that can listen on `port` of `host` is machine 0 and waits for the
/// others; they connect to it, however late it comes. Returns when all are there. Throws Error on all of them when
/// their shapes differ, and after `timeout`. Strangers who connect are sent away.
Arrival arrive(const std::string& host, int port, const JobShape& shape, std::chrono::seconds timeout,
               SignalWatch& signals);

}  // namespace accelerate::launch
