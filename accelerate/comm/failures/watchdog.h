#pragma once

// Finds the missing ranks if a collective does not end, by the heartbeats of all ranks, and reports the last
// collectives of this rank.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/comm/failures/flight_recorder.h"
#include "accelerate/comm/topology.h"

namespace accelerate::comm {

/// What each rank publishes in the store about once a second. It is one small message to the process that hosts the
/// store; the sender does not wait for an answer.
struct Heartbeat {
  int64_t unix_milliseconds = 0;  // by the rank's own clock
  int64_t collective = 0;         // the number of the newest one; 0 before the first
  std::string doing = {};         // "in reduce #12 (Float [2, 3])", "after ..."

  /// The heartbeat of this process, now.
  static Heartbeat now(const FlightRecorder& recorder);

  /// Converts to the text in the store, and back.
  std::string to_text() const;
  static Heartbeat from_text(const std::string& text);
};

/// The latest known state of another rank: its heartbeat, or `shared` if that is newer. `shared` is a collective with
/// `by_all` that has ended here, so the other rank had begun it.
Heartbeat last_seen(Heartbeat heartbeat, const std::optional<Collective>& shared);

/// "pid 4711 on node7, last seen 12.3 s ago in reduce #12 (Float [2, 3])".
std::string describe(const Heartbeat& heartbeat, const RankCard& card, int64_t now_unix_milliseconds);

/// The time of this machine's clock, in the format of heartbeats.
int64_t unix_milliseconds();

struct WatchdogOptions {
  std::vector<int> names = {};                    // by rank: its number in the job; empty if the same
  std::shared_ptr<const Topology> topology = {};  // of the job, whose rank 0 hosts the store; required
};

/// Installs a handler that counts SIGUSR2 as a request for a report. A handler set by the program is not replaced.
void watch_for_report_requests();

/// Sends heartbeats of this rank during its lifetime, from its own thread. On a request that thread writes the
/// recorder's report to standard error, within a second.
class Watchdog {
 public:
  /// Ranks share `store`, which rank 0 or its launcher hosts. Collective.
  Watchdog(c10::intrusive_ptr<c10d::Store> store, int rank, int size, const FlightRecorder& recorder,
           WatchdogOptions options);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Called by each rank on which collective `number` has failed. Describes the ranks that did not report this failure,
  /// and what they were last seen doing; empty if there are none. Returns within a second, even if other ranks or the
  /// store do not answer.
  std::string missing_ranks(int64_t number) const;

  /// Writes the last ten collectives before a failure to standard error, in one write(2). A report on request (SIGUSR2)
  /// has all collectives of the recorder.
  void write_report() const;

 private:
  void write_report(size_t most) const;
  void run();
  void send_heartbeat();
  int job_rank(int rank) const { return names_.empty() ? rank : names_[rank]; }
  std::string store_is_silent(const char* how) const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
  const FlightRecorder& recorder_;
  std::vector<int> names_;
  std::shared_ptr<const Topology> topology_;
  std::mutex mutex_;
  std::condition_variable ending_changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace accelerate::comm
