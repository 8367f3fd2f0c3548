#pragma once

// Rendezvous of the launchers of several machines. It happens before any rank starts, and the connections stay open.
// Machine ranks are given, or assigned in the order of arrival.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/launch/machines/line_socket.h"
#include "accelerate/process/signals.h"

namespace accelerate::launch {

/// What all machines of a job must agree on.
struct JobShape {
  int num_machines = 1;
  int num_processes = 1;
};

struct LauncherRendezvous {
  int machine_rank = 0;
  int main_process_port = 0;            // of the rendezvous of the ranks, on machine 0
  int stopped_by = 0;                   // the signal that interrupted the rendezvous; the other members are then unset
  std::vector<LineSocket> others = {};  // on machine 0 to machines 1, 2, ...; on those to machine 0
};

/// Called by the launcher of every machine. Machine 0 listens on `port` of `host`; the others connect to it and retry
/// until it is up. Rank 0 uses the same port afterwards. Without a `machine_rank`, the machine that can listen on that
/// address is machine 0, and rank 0 gets a free port. Returns when all machines have connected. Throws Error on all
/// machines if their shapes differ or two claim the same rank, and after `timeout`. Connections from other programs are
/// dropped.
LauncherRendezvous launcher_rendezvous(const std::string& host, int port, const JobShape& shape,
                                       std::optional<int> machine_rank, std::chrono::seconds timeout,
                                       process::SignalWatch& signals);

}  // namespace accelerate::launch
