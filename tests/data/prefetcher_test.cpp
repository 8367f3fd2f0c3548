#include "accelerate/data/prefetcher.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace {

using namespace accelerate::data;
using namespace std::chrono_literals;

/// Jobs 0, 1, ... that each give `work(i)`.
template <class Work>
Stream<Job<int>> jobs(int count, Work work) {
  return [=, next = 0]() mutable -> std::optional<Job<int>> {
    if (next == count) return std::nullopt;
    return [=, i = next++]() -> std::optional<int> { return work(i); };
  };
}

std::vector<int> drain(OrderedPrefetcher<int>& prefetcher) {
  std::vector<int> results;
  while (auto result = prefetcher.next()) results.push_back(*result);
  return results;
}

std::vector<int> first_numbers(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

}  // namespace

TEST_CASE("results come in the order of the jobs, whatever the number of workers and the time each job takes") {
  for (int num_workers : {0, 1, 2, 3, 8}) {
    for (int count : {0, 1, 2, 7, 40}) {
      CAPTURE(num_workers);
      CAPTURE(count);
      OrderedPrefetcher<int> prefetcher(
          jobs(count,
               [](int i) {
                 std::this_thread::sleep_for(std::chrono::microseconds((i * 37) % 11 * 50));
                 return i;
               }),
          {.num_workers = num_workers, .depth = 2 * num_workers});
      CHECK(drain(prefetcher) == first_numbers(count));
      CHECK(!prefetcher.next());
    }
  }
}

TEST_CASE("the stream of jobs is read by the caller, as far ahead as the depth and no further") {
  std::atomic<int> num_given = 0;
  const auto caller = std::this_thread::get_id();
  auto counted = [&, inner = jobs(100, [](int i) { return i; })]() mutable {
    CHECK(std::this_thread::get_id() == caller);
    ++num_given;
    return inner();
  };
  OrderedPrefetcher<int> prefetcher(counted, {.num_workers = 2, .depth = 5});
  CHECK(num_given == 0);
  CHECK(prefetcher.next() == 0);
  CHECK(num_given == 6);
  CHECK(prefetcher.next() == 1);
  CHECK(num_given == 7);
}

TEST_CASE("an exception arrives in the place of its result, and the results behind it are not lost") {
  for (int num_workers : {0, 3}) {
    CAPTURE(num_workers);
    OrderedPrefetcher<int> prefetcher(jobs(6,
                                           [](int i) {
                                             if (i == 2) throw std::runtime_error("sample 2 is broken");
                                             return i;
                                           }),
                                      {.num_workers = num_workers, .depth = 4});
    CHECK(prefetcher.next() == 0);
    CHECK(prefetcher.next() == 1);
    CHECK_THROWS_WITH(prefetcher.next(), "sample 2 is broken");
    CHECK(drain(prefetcher) == std::vector<int>{3, 4, 5});
  }
}

TEST_CASE("an error in the stream of jobs arrives behind the results before it") {
  auto broken = [next = 0]() mutable -> std::optional<Job<int>> {
    if (next == 2) throw std::runtime_error("the sampler is broken");
    return [i = next++]() -> std::optional<int> { return i; };
  };
  OrderedPrefetcher<int> prefetcher(broken, {.num_workers = 2, .depth = 4});
  CHECK(prefetcher.next() == 0);
  CHECK(prefetcher.next() == 1);
  CHECK_THROWS_WITH(prefetcher.next(), "the sampler is broken");
  CHECK(!prefetcher.next());
}

TEST_CASE("a job can be the one that finds the end") {
  auto endless = [next = 0]() mutable -> std::optional<Job<int>> {
    return [i = next++]() { return i < 5 ? std::optional<int>(i) : std::nullopt; };
  };
  for (int num_workers : {0, 1, 4}) {
    OrderedPrefetcher<int> prefetcher(endless, {.num_workers = num_workers, .depth = 3});
    CHECK(drain(prefetcher) == first_numbers(5));
    if (num_workers > 0) CHECK(!prefetcher.next());
  }
}

TEST_CASE("leaving early ends the threads and drops the jobs that have not begun") {
  std::atomic<int> num_run = 0;
  std::atomic<int> num_running = 0;
  for (int round = 0; round < 20; ++round) {
    num_run = 0;
    {
      OrderedPrefetcher<int> prefetcher(jobs(1000,
                                             [&](int i) {
                                               ++num_running;
                                               if (i > 0) std::this_thread::sleep_for(10ms);
                                               ++num_run;
                                               --num_running;
                                               return i;
                                             }),
                                        {.num_workers = 4, .depth = 64});
      CHECK(prefetcher.next() == 0);
    }
    CHECK(num_running == 0);
    CHECK(num_run < 64);
  }
}

TEST_CASE("a result that does not come in time is an error that names the batch, and nobody waits for its thread") {
  auto release = std::make_shared<std::promise<void>>();
  auto gate = release->get_future().share();
  auto ended = std::make_shared<std::atomic<bool>>(false);
  const auto start = std::chrono::steady_clock::now();
  {
    OrderedPrefetcher<int> prefetcher(jobs(3,
                                           [gate, ended](int i) {
                                             if (i == 1) {
                                               gate.wait();
                                               *ended = true;
                                             }
                                             return i;
                                           }),
                                      {.num_workers = 1, .depth = 2, .timeout = 50ms});
    CHECK(prefetcher.next() == 0);
    CHECK_THROWS_WITH_AS(prefetcher.next(), doctest::Contains("batch 1 was not ready after 50 ms"), accelerate::Error);
  }
  CHECK(std::chrono::steady_clock::now() - start < 10s);
  release->set_value();
  while (!*ended) std::this_thread::sleep_for(1ms);
}

TEST_CASE("every worker is set up before the first job runs") {
  std::atomic<int> num_started = 0;
  OrderedPrefetcher<int> prefetcher(jobs(8, [&](int) { return num_started.load(); }),
                                    {.num_workers = 3, .depth = 3, .on_worker_start = [&] { ++num_started; }});
  CHECK(drain(prefetcher) == std::vector<int>(8, 3));
}

TEST_CASE("results are handed over without being copied") {
  struct Counted {
    std::shared_ptr<std::atomic<int>> copies;
    explicit Counted(std::shared_ptr<std::atomic<int>> counter) : copies(std::move(counter)) {}
    Counted(const Counted& other) : copies(other.copies) { ++*copies; }
    Counted(Counted&&) = default;
    Counted& operator=(Counted&&) = default;
  };
  auto copies = std::make_shared<std::atomic<int>>(0);
  auto one_after_the_other = [copies, left = 10]() mutable -> std::optional<Job<Counted>> {
    if (left-- == 0) return std::nullopt;
    return [copies]() -> std::optional<Counted> { return Counted(copies); };
  };
  OrderedPrefetcher<Counted> prefetcher(one_after_the_other, {.num_workers = 2, .depth = 4});
  while (prefetcher.next()) continue;
  CHECK(*copies == 0);
}
