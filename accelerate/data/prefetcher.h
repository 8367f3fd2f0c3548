#pragma once

// The prefetcher: worker threads run jobs ahead of the consumer, which gets the results in the order of the jobs.

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/data/stream.h"

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

struct PrefetchOptions {
  int num_workers = 0;                                           // 0: a job runs in the caller's thread, in next()
  int64_t depth = 2;                                             // jobs that run or have results waiting, at most
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // for one result
  std::function<void()> on_worker_start = nullptr;
};

/// Returns one result, or nothing if there are no more.
template <class T>
using Job = std::function<std::optional<T>()>;

/// Runs jobs in worker threads, or in the caller's without workers, and returns their results in order. The thread that
/// calls next() reads the stream of jobs, always `depth` jobs ahead, so the stream's random draws do not depend on
/// thread timing.
template <class T>
class OrderedPrefetcher {
 public:
  OrderedPrefetcher(Stream<Job<T>> jobs, const PrefetchOptions& options) : jobs_(std::move(jobs)), options_(options) {
    assert(options.num_workers >= 0);
    if (options.num_workers == 0) return;
    assert(options.depth > 0);  // next() would return nothing
    workers_ = std::make_unique<WorkerThreads>(options.num_workers, options.on_worker_start);
    workers_->set_shutdown_timeout(options.timeout);
  }

  /// Returns the result of the next job, or nothing at the end. Rethrows what the job threw; the following call returns
  /// the result of the following job. Throws Error if the result is not ready within the timeout.
  std::optional<T> next() {
    if (!workers_) {
      auto job = jobs_();
      return job ? (*job)() : std::nullopt;
    }
    fill();
    if (results_.empty()) return std::nullopt;
    auto result = std::move(results_.front());
    results_.pop_front();
    wait_for(*result);
    ++num_taken_;
    if (result->error) std::rethrow_exception(std::exchange(result->error, nullptr));
    if (result->value) {
      fill();
    } else {
      exhausted_ = true;
      results_.clear();
    }
    return std::move(result->value);
  }

 private:
  struct Result {
    std::mutex mutex;
    std::condition_variable became_ready;
    bool ready = false;
    std::optional<T> value;
    std::exception_ptr error;

    void make(const Job<T>& job) {
      std::optional<T> made;
      std::exception_ptr thrown;
      try {
        made = job();
      } catch (...) {
        thrown = std::current_exception();
      }
      std::lock_guard lock(mutex);
      assert(!ready);
      value = std::move(made);
      error = std::move(thrown);
      ready = true;
      became_ready.notify_one();
    }
  };

  void fill() {
    while (!exhausted_ && static_cast<int64_t>(results_.size()) < options_.depth) {
      auto result = std::make_shared<Result>();
      std::optional<Job<T>> job;
      try {
        job = jobs_();
      } catch (...) {
        // The stream threw. Results before the error are still valid, so it is queued behind them.
        exhausted_ = true;
        result->error = std::current_exception();
        result->ready = true;
        results_.push_back(result);
        return;
      }
      if (!job) {
        exhausted_ = true;
        return;
      }
      results_.push_back(result);
      workers_->run([result, job = std::move(*job)] { result->make(job); });
    }
  }

  void wait_for(Result& result) {
    std::unique_lock lock(result.mutex);
    if (result.became_ready.wait_for(lock, options_.timeout, [&] { return result.ready; })) return;
    workers_->set_shutdown_timeout(std::chrono::milliseconds(0));
    fail("batch ", num_taken_, " was not ready after ", options_.timeout.count(),
         " ms: a worker thread is stuck or slow; look at the data set, or raise the loader's timeout");
  }

  Stream<Job<T>> jobs_;
  PrefetchOptions options_;
  std::deque<std::shared_ptr<Result>> results_;  // of the jobs given to workers, in order
  int64_t num_taken_ = 0;
  bool exhausted_ = false;
  std::unique_ptr<WorkerThreads> workers_;  // last member: destroyed first
};

}  // namespace accelerate::data
