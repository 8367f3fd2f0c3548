#pragma once

// Checks whether this machine can reach the machine of rank 0.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "accelerate/process/signals.h"

namespace accelerate::launch {

/// The machine with rank 0, and the port that rank 0 will listen on.
class MainMachine {
 public:
  /// Resolves the name. Throws Error if that fails.
  MainMachine(const std::string& host, int port);

  /// Tries to connect, for at most a second per address. Returns the problem, or an empty string if the port accepts
  /// connections. Distinguishes a refused connection, no answer, and a name that does not (or no longer) resolve.
  std::string problem() const;

  /// Waits until the port accepts connections. Throws Error after `timeout`. Returns early if a signal to stop arrives,
  /// with its number; otherwise returns 0.
  int wait(std::chrono::seconds timeout, process::SignalWatch& signals) const;

 private:
  std::string host_;
  int port_;
};

/// Retries in the background until the port accepts connections, and occasionally prints what it waits for.
class MainMachineWatch {
 public:
  explicit MainMachineWatch(MainMachine machine);
  MainMachineWatch(const MainMachineWatch&) = delete;
  MainMachineWatch& operator=(const MainMachineWatch&) = delete;
  ~MainMachineWatch();

  /// The problem of the last try; empty if it succeeded.
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
