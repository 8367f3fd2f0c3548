#pragma once

// Threads that run tasks in the order they were given, and that can always be left behind.

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace accelerate::data {

/// A fixed number of threads. The constructor returns when all of them have started.
class WorkerThreads {
 public:
  explicit WorkerThreads(int count, const std::function<void()>& on_start = nullptr);

  /// Drops the tasks that have not begun and waits for those that run, up to the patience. A thread that is still busy
  /// then is left to end by itself; it shares ownership of what it uses.
  ~WorkerThreads();

  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Runs `task`, which does not throw, in one of the threads. Tasks begin in the order of these calls.
  void run(std::function<void()> task);

  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

 private:
  struct Shared;

  void end();

  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
  std::chrono::milliseconds patience_ = std::chrono::minutes(10);
};

}  // namespace accelerate::data
