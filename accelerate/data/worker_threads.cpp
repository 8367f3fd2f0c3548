#include "accelerate/data/prefetcher.h"

#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace accelerate::data {

struct WorkerThreads::Shared {
  std::mutex mutex;
  std::condition_variable task_given;
  std::condition_variable count_changed;
  std::deque<std::function<void()>> tasks;
  int num_started = 0;
  int num_ended = 0;
  bool stop = false;

  void work() {
    std::unique_lock lock(mutex);
    ++num_started;
    count_changed.notify_all();
    while (true) {
      task_given.wait(lock, [&] { return stop || !tasks.empty(); });
      if (stop) break;
      auto task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      task = nullptr;  // destroys what the task owns before taking the lock
      lock.lock();
    }
    ++num_ended;
    count_changed.notify_all();
  }
};

WorkerThreads::WorkerThreads(int count, const std::function<void()>& on_start) : shared_(std::make_shared<Shared>()) {
  try {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([shared = shared_, on_start] {
        if (on_start) on_start();
        shared->work();
      });
    }
  } catch (...) {  // the system is out of threads
    end();
    throw;
  }
  std::unique_lock lock(shared_->mutex);
  shared_->count_changed.wait(lock, [&] { return shared_->num_started == count; });
}

WorkerThreads::~WorkerThreads() { end(); }

void WorkerThreads::end() {
  std::deque<std::function<void()>> dropped;
  bool all_ended = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    dropped.swap(shared_->tasks);
    shared_->task_given.notify_all();
    all_ended = shared_->count_changed.wait_for(
        lock, shutdown_timeout_, [&] { return shared_->num_ended == static_cast<int>(threads_.size()); });
  }
  for (auto& thread : threads_) {
    if (all_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
}

void WorkerThreads::run(std::function<void()> task) {
  assert(task && !threads_.empty());
  {
    std::lock_guard lock(shared_->mutex);
    assert(!shared_->stop);
    shared_->tasks.push_back(std::move(task));
  }
  shared_->task_given.notify_one();
}

}  // namespace accelerate::data
