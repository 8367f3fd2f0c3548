#pragma once

// What a rank tells the others about itself, about once a second, through the job's store: one small message to the
// process that hosts the store, and no answer to wait for.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "accelerate/comm/flight_recorder.h"

namespace accelerate::comm {

struct Heartbeat {
  pid_t pid = 0;
  int64_t unix_milliseconds = 0;  // of the rank's own clock
  int64_t collective = 0;         // the number of its newest one; 0 before the first
  std::string host = {};
  std::string doing = {};  // "in reduce #12 (Float [2, 3])", "after ..."

  /// That of this process, now.
  static Heartbeat now(const FlightRecorder& recorder);

  /// As the text that the store keeps, and back.
  std::string to_text() const;
  static Heartbeat from_text(const std::string& text);
};

/// What this rank knows of another: its heartbeat, or `shared` if that is newer. `shared` is a collective that has
/// ended here, so that the other had begun it.
Heartbeat last_seen(Heartbeat heartbeat, const std::optional<Collective>& shared);

/// "pid 4711 on node7, last seen 12.3 s ago in reduce #12 (Float [2, 3])".
std::string describe(const Heartbeat& heartbeat, int64_t now_unix_milliseconds);

/// The time of this machine's clock, as heartbeats have it.
int64_t unix_milliseconds();

}  // namespace accelerate::comm
