#pragma once

// Knows which rank is missing when a collective does not end, and tells what this rank did last.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/comm/flight_recorder.h"
#include "accelerate/comm/heartbeat.h"

namespace accelerate::comm {

struct WatchdogOptions {
  std::vector<int> names = {};                           // by rank: what messages call it, if not by that number
  std::optional<Heartbeat> main_process = std::nullopt;  // that hosts the store, if not rank 0
};

/// Sends this rank's heartbeats while it lives, from a thread of its own. SIGUSR2 makes that thread write the
/// recorder's report to standard error, within a second; a handler that the program has set itself stays.
class Watchdog {
 public:
  /// Ranks meet in `store`, which rank 0 or its launcher hosts. Collective.
  Watchdog(c10::intrusive_ptr<c10d::Store> store, int rank, int size, const FlightRecorder& recorder,
           WatchdogOptions options = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// To be called by each rank in which collective `number` has failed: the ranks in which it has not, and what they
  /// were last seen at, in words; empty when there are none. Takes less than a second, whatever has become of the
  /// others.
  std::string missing_ranks(int64_t number) const;

  /// As it was in the beginning: where the store is.
  const Heartbeat& main_process() const { return main_process_; }

  /// Writes what led to a failure to standard error, in one piece: the newest ten collectives of the recorder. A report
  /// on request (SIGUSR2) has all of them.
  void write_report() const;

 private:
  void write_report(size_t most) const;
  void live();
  void send_heartbeat();
  std::string name_of(int rank) const { return std::to_string(names_.empty() ? rank : names_[rank]); }
  std::string store_is_silent(const char* how) const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
  const FlightRecorder& recorder_;
  std::vector<int> names_;
  Heartbeat main_process_;
  std::mutex mutex_;
  std::condition_variable ending_changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace accelerate::comm
