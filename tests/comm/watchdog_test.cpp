// Ranks that are stopped, and what the others say about them.

#include "accelerate/comm/failures/watchdog.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "accelerate/base/environment.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/partial_state.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::comm;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTimeout = 2s;
constexpr int kBeforeStop = 200;

std::vector<pid_t> pids_of(const Group& group) {
  auto gathered = group.all_gather(torch::tensor({static_cast<int64_t>(getpid())}));
  return {gathered.data_ptr<int64_t>(), gathered.data_ptr<int64_t>() + group.size()};
}

/// Stops `victim` before a collective. The others have to name it in time; then it goes on, to end as they do.
void check_that_stopped_rank_is_named(int num_processes, int victim) {
  tests::run_ranks(num_processes, [&](Group&) {
    PartialState::reset();
    PartialState state({.timeout = kTimeout});
    const auto& group = state.group();
    auto pids = pids_of(group);
    auto tensor = torch::ones({4, 2});
    for (int i = 0; i < kBeforeStop; ++i) group.all_reduce(tensor);
    if (group.rank() == victim) raise(SIGSTOP);  // long before its second heartbeat
    auto begin = Clock::now();
    std::string text;
    auto report = tests::captured_stderr([&] {
      try {
        group.all_reduce(tensor);
      } catch (const Error& error) {
        text = error.what();
      }
    });
    auto took = Clock::now() - begin;
    int waker = victim == 0 ? 1 : 0;
    if (group.rank() == waker) {
      usleep(300'000);  // the other survivors are to decide by themselves
      kill(pids[victim], SIGCONT);
    }
    if (group.rank() == victim) return;
    CHECK(took < kTimeout + 1s);
    auto who = "s; these ranks did not take part: " + std::to_string(victim) + " (pid " + std::to_string(pids[victim]);
    CHECK_MESSAGE(text.find("reduce #203 (Float [4, 2]) failed after ") != std::string::npos, text);
    CHECK_MESSAGE(text.find(who) != std::string::npos, text);
    CHECK_MESSAGE(text.find("last seen ") != std::string::npos, text);
    CHECK_MESSAGE(text.find("reduce #202 (Float [4, 2])") != std::string::npos, text);
    CHECK_MESSAGE(report.find("the last collectives, newest last:\n  reduce #194") != std::string::npos, report);
    CHECK_MESSAGE(report.find("reduce #203 (Float [4, 2]), 32 bytes: failed after ") != std::string::npos, report);
  });
}

}  // namespace

TEST_CASE("a stopped rank is named within the timeout and a second, on two ranks and on four") {
  check_that_stopped_rank_is_named(2, 1);
  check_that_stopped_rank_is_named(4, 2);
}

TEST_CASE("the rank that hosts the store is named too when it is stopped") {
  check_that_stopped_rank_is_named(2, 0);
  check_that_stopped_rank_is_named(4, 0);
}

TEST_CASE("the rank with the store stays until others know who is missing") {
  tests::TemporaryDirectory directory;
  auto miss_one = [&](Group&) {
    signal(SIGTERM, SIG_IGN);  // the end of rank 0 ends the others, three seconds later
    PartialState::reset();
    PartialState state({.timeout = 1s});
    const auto& group = state.group();
    auto pids = pids_of(group);
    if (group.rank() == 2) {  // does not come, and makes rank 1 late in noticing it
      std::this_thread::sleep_for(900ms);
      kill(pids[1], SIGSTOP);
      std::this_thread::sleep_for(180ms);
      kill(pids[1], SIGCONT);
      std::this_thread::sleep_for(2s);
    }
    std::string text;
    auto report = tests::captured_stderr([&] {
      try {
        auto tensor = torch::ones({4});
        if (group.rank() != 2) group.all_reduce(tensor);
      } catch (const Error& error) {
        text = error.what();
      }
    });
    directory.write(std::to_string(group.rank()), text);
    if (group.rank() == 0) _exit(7);
  };
  CHECK_THROWS_WITH_AS(ranks::run_ranks(3, miss_one), doctest::Contains("rank 0 of 3 failed"), Error);
  for (const std::string rank : {"0", "1"}) {
    auto text = directory.read(rank);
    CHECK_MESSAGE(text.find("these ranks did not take part: 2 (pid ") != std::string::npos, text);
  }
}

TEST_CASE("when a rank ends, the others name it and keep their history to themselves") {
  for (const char* transport : {"shm", "gloo"}) {
    CAPTURE(transport);
    PatchEnvironment comm{{"ACCELERATE_COMM", transport}};
    tests::TemporaryDirectory directory;
    auto lose_one = [&](Group& group) {
      signal(SIGTERM, SIG_IGN);  // three seconds until it is killed
      group.barrier();
      if (group.rank() == 2) _exit(7);
      std::string text;
      auto report = tests::captured_stderr([&] {
        try {
          auto tensor = torch::ones({4});
          for (int i = 0; i < 10; ++i) group.all_reduce(tensor);
        } catch (const Error& error) {
          text = error.what();
        }
      });
      directory.write(std::to_string(group.rank()), text + "\nwritten: " + report);
    };
    CHECK_THROWS_WITH_AS(ranks::run_ranks(3, lose_one), doctest::Contains("rank 2 of 3 failed"), Error);
    for (const std::string survivor : {"0", "1"}) {
      auto text = directory.read(survivor);
      CHECK_MESSAGE(text.find("rank " + survivor + " of 3: reduce #2 (Float [4]) failed after ") == 0, text);
      CHECK_MESSAGE(text.ends_with("\nwritten: "), text);
    }
  }
}

TEST_CASE("ranks that call different collectives learn what each has called, and not that one is missing") {
  tests::run_ranks(2, [](Group&) {
    PartialState::reset();
    PartialState state;
    const auto& group = state.group();
    group.barrier();
    std::string text;
    auto tensor = torch::ones({4});
    auto report = tests::captured_stderr([&] {
      try {
        group.rank() == 0 ? group.all_reduce(tensor) : group.barrier();
      } catch (const Error& error) {
        text = error.what();
      }
    });
    CHECK_MESSAGE(
        text.find("the ranks called mismatched collectives:\n  - Process 0: allreduce of 4") != std::string::npos,
        text);
    CHECK_MESSAGE(text.find("did not take part") == std::string::npos, text);
    CHECK_MESSAGE(report.find("the last collectives, newest last:\n  barrier #1") != std::string::npos, report);
    CHECK_MESSAGE(report.find("[W") == std::string::npos, report);
  });
}

TEST_CASE("in the debug mode too, a mismatch is no rank that is missing") {
  PatchEnvironment debug{{"ACCELERATE_DEBUG_MODE", "1"}};
  tests::run_ranks(2, [](Group& group) {
    group.barrier();
    std::string text;
    std::vector<at::Tensor> gradients{torch::ones({3})};
    auto report = tests::captured_stderr([&] {
      try {
        // As libtorch reduces gradients, without the comparison that Group makes before.
        auto reduce = [&] { return group.connection()->process_group()->allreduce(gradients); };
        group.rank() == 0 ? group.connection()->wait("reduce", gradients[0], reduce) : group.barrier();
      } catch (const Error& error) {
        text = error.what();
      }
    });
    CHECK_MESSAGE(text.find("Detected mismatch between collectives") != std::string::npos, text);
    CHECK_MESSAGE(text.find("did not take part") == std::string::npos, text);
    CHECK_MESSAGE(report.find("the last collectives, newest last:") != std::string::npos, report);
  });
}

TEST_CASE("SIGUSR2 makes a rank tell its last collectives, and it goes on") {
  tests::run_ranks(2, [](Group& group) {
    group.barrier("the first");
    auto report = tests::captured_stderr([] {
      raise(SIGUSR2);
      usleep(4'000'000);  // a second would do on a machine that has nothing else to do
    });
    auto head = "rank " + std::to_string(group.rank()) + " of 2: the last collectives, newest last:\n";
    CHECK_MESSAGE(report.find(head + "  the first #1: took ") != std::string::npos, report);
    group.barrier();
  });
}

TEST_CASE("a handler for SIGUSR2 that the program has set itself stays") {
  tests::run_ranks(2, [](Group& group) {
    static volatile sig_atomic_t caught = 0;
    signal(SIGUSR2, [](int) { caught = 1; });
    PartialState::reset();
    PartialState state;
    auto report = tests::captured_stderr([] {
      raise(SIGUSR2);
      usleep(1'500'000);
    });
    CHECK(caught == 1);
    CHECK(report == "");
    state.wait_for_everyone();
  });
}

TEST_CASE("a rank that outlives the one with the store says nothing about it") {
  auto text = tests::captured_stderr([] {
    auto outlive = [](Group& group) {
      group.barrier();  // who is still on its way into the job does talk to the store
      if (group.rank() == 0) _exit(0);
      signal(SIGTERM, SIG_IGN);  // three seconds until it is killed
      while (true) pause();
    };
    CHECK_THROWS_WITH_AS(ranks::run_ranks(2, outlive), doctest::Contains("rank 0 of 2 failed: ended with exit code 0"),
                         Error);
  });
  CHECK(text == "");
}
