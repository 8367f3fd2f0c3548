#pragma once

// A thread pool that starts tasks in FIFO order and abandons stuck threads on destruction.

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace accelerate::data {

/// A fixed number of threads. The constructor returns when all of them have started. Each calls `on_start` first.
class WorkerThreads {
 public:
  explicit WorkerThreads(int count, const std::function<void()>& on_start = nullptr);

  /// Drops the tasks that have not begun, waits for running ones up to the shutdown timeout, and joins the threads. If
  /// a thread is still busy then, all are detached; they share ownership of what they use.
  ~WorkerThreads();

  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Runs `task` in one of the threads. It must not throw. Tasks begin in the order of these calls.
  void run(std::function<void()> task);

  void set_shutdown_timeout(std::chrono::milliseconds timeout) { shutdown_timeout_ = timeout; }

 private:
  struct Shared;

  void end();

  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
  std::chrono::milliseconds shutdown_timeout_ = std::chrono::minutes(10);
};

}  // namespace accelerate::data
