#pragma once

// Knows which rank is missing when a collective does not end, and tells what this rank did last.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/comm/flight_recorder.h"
#include "accelerate/comm/heartbeat.h"

namespace accelerate::comm {

/// Sends this rank's heartbeats while it lives, from a thread of its own. SIGUSR2 makes that thread write the
/// recorder's report to standard error, within a second; a handler that the program has set itself stays.
class Watchdog {
 public:
  /// Ranks meet in `store`, which rank 0 or its launcher hosts. Collective.
  Watchdog(c10::intrusive_ptr<c10d::Store> store, int rank, int size, const FlightRecorder& recorder);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// To be called by each rank in which collective `number` has failed: the ranks in which it has not, and what they
  /// were last seen at, in words; empty when there are none. Takes less than a second, whatever has become of the
  /// others.
  std::string missing_ranks(int64_t number) const;

  /// Writes the recorder's report to standard error, in one piece.
  void write_report() const;

 private:
  void live();
  void send_heartbeat();
  std::string store_is_silent(const char* how) const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
  const FlightRecorder& recorder_;
  Heartbeat main_process_;  // as it was in the beginning: where the store is
  std::mutex mutex_;
  std::condition_variable ending_changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace accelerate::comm
