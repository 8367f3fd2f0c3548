#pragma once

// What each rank publishes about itself in the job's store, about once a second. A heartbeat is one small message to
// the process that hosts the store; the sender does not wait for an answer.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "accelerate/comm/flight_recorder.h"

namespace accelerate::comm {

struct Heartbeat {
  pid_t pid = 0;
  int64_t unix_milliseconds = 0;  // by the rank's own clock
  int64_t collective = 0;         // the number of the newest one; 0 before the first
  std::string host = {};
  std::string doing = {};  // "in reduce #12 (Float [2, 3])", "after ..."

  /// The heartbeat of this process, now.
  static Heartbeat now(const FlightRecorder& recorder);

  /// Converts to the text in the store, and back.
  std::string to_text() const;
  static Heartbeat from_text(const std::string& text);
};

/// The newest that this rank knows of another: its heartbeat, or `shared` if that is newer. `shared` is a collective
/// that has ended here, so the other rank had begun it.
Heartbeat last_seen(Heartbeat heartbeat, const std::optional<Collective>& shared);

/// "pid 4711 on node7, last seen 12.3 s ago in reduce #12 (Float [2, 3])".
std::string describe(const Heartbeat& heartbeat, int64_t now_unix_milliseconds);

/// The time of this machine's clock, in the format of heartbeats.
int64_t unix_milliseconds();

}  // namespace accelerate::comm
