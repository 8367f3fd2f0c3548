#pragma once

// Whether this machine can reach the one that rank 0 is on.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

/// The machine whose rank is 0, and the port on which its rank 0 listens once it runs.
class MainMachine {
 public:
  /// Looks the name up. Throws Error when nothing stands behind it.
  MainMachine(const std::string& host, int port);

  /// Tries to connect, for at most a second. Returns what is wrong, with refused, no answer and a name that is not
  /// resolved (any more) told apart; empty when someone listens there.
  std::string problem() const;

  /// Waits until someone listens. Throws Error after `timeout`. Returns early when a signal to stop arrives, and gives
  /// it.
  int wait(std::chrono::seconds timeout, SignalWatch& signals) const;

 private:
  std::string host_;
  int port_;
};

/// Tries in the background until someone listens, and says now and then what it waits for.
class MainMachineWatch {
 public:
  explicit MainMachineWatch(MainMachine machine);
  MainMachineWatch(const MainMachineWatch&) = delete;
  MainMachineWatch& operator=(const MainMachineWatch&) = delete;
  ~MainMachineWatch();

  /// What was wrong at the last try; empty when the machine has been reached.
  std::string problem() const;

 private:
  void run();

  MainMachine machine_;
  mutable std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::string problem_;
  std::thread thread_;
};

}  // namespace accelerate::launch
