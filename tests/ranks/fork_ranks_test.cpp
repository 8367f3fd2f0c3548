#include "accelerate/ranks/fork_ranks.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "accelerate/process/lost_peer.h"
#include "tests/support/failure_of.h"
#include "tests/support/torch.h"

using namespace accelerate;
using accelerate::ranks::fork_ranks;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

/// What fork_ranks throws, as text; empty when it does not throw.
template <class Body>
std::string failure_of(int num_processes, Body body, std::chrono::milliseconds timeout = 20s) {
  return tests::failure_of([&] { fork_ranks(num_processes, body, {.timeout = timeout}); });
}

std::string sleep_for_ever(int) {
  while (true) pause();
}

/// A matrix product large enough for OpenMP, and its gradient.
double compute() {
  auto matrix = torch::ones({400, 400}, torch::requires_grad());
  torch::matmul(matrix, matrix).sum().backward();
  return matrix.grad().sum().item<double>();
}

}  // namespace

TEST_CASE("results come back in rank order, whatever their size") {
  auto results = fork_ranks(3, [](int rank) { return std::string(rank * 300'000, static_cast<char>('a' + rank)); });
  REQUIRE(results.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(results[rank] == std::string(rank * 300'000, static_cast<char>('a' + rank)));
  }
}

TEST_CASE("ranks compute with several threads after the parent has") {
  auto expected = compute();
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto results = fork_ranks(2,
                              [](int) {
                                at::set_num_threads(2);
                                return std::to_string(compute());
                              },
                              {.timeout = 60s});
    for (const auto& result : results) CHECK(result == std::to_string(expected));
  }
}

TEST_CASE("a rank finds its job in the environment, and the parent's environment stays as it is") {
  PatchEnvironment patch{{"RANK", std::nullopt}, {"ACCELERATE_STORE_FD", "99"}, {"OMP_NUM_THREADS", "3"}};
  auto results = fork_ranks(
      2,
      [](int) {
        std::string all;
        for (auto name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "ACCELERATE_USE_CPU",
                          "FORK_LAUNCHED", "TORCHELASTIC_USE_AGENT_STORE", "OMP_NUM_THREADS", "EXTRA"}) {
          all += environment_variable(name).value_or("-") + " ";
        }
        all += environment_variable("ACCELERATE_STORE_FD") ? "store" : "no store";
        return all + " " + std::to_string(at::get_num_threads());
      },
      {.timeout = 20s, .environment = {{"EXTRA", "more"}}});
  CHECK(results[0] == "0 0 2 2 127.0.0.1 1 1 False 3 more store 3");
  CHECK(results[1] == "1 1 2 2 127.0.0.1 1 1 False 3 more no store 3");
  CHECK(environment_variable("RANK") == std::nullopt);
  CHECK(environment_variable("ACCELERATE_STORE_FD") == "99");
}

TEST_CASE("an exception in a rank ends all and arrives with its text and rank") {
  auto start = Clock::now();
  auto text = failure_of(3, [](int rank) -> std::string {
    if (rank == 1) fail("no such file: weights.bin");
    return sleep_for_ever(rank);
  });
  CHECK(text == "rank 1 of 3 failed: no such file: weights.bin");
  CHECK(Clock::now() - start < 2s);
}

TEST_CASE("torch's errors arrive without the stack they carry") {
  auto text = failure_of(2, [](int) -> std::string {
    torch::ones({2}) + torch::ones({3});
    return "";
  });
  CHECK_MESSAGE(text.find("The size of tensor a (2) must match") != std::string::npos, text);
  CHECK_MESSAGE(text.find("frame #") == std::string::npos, text);
  CHECK_MESSAGE(text.find("Exception raised from") == std::string::npos, text);
}

TEST_CASE("a crash is named by its signal, even when its peers complain first") {
  auto text = failure_of(2, [](int rank) -> std::string {
    if (rank == 0) fail("connection closed by peer");
    usleep(30'000);
    raise(SIGSEGV);
    return "";
  });
  CHECK(text == "rank 1 of 2 failed: was ended by SIGSEGV (Segmentation fault)");
}

TEST_CASE("an exit before the function returns is a failure, also with code 0") {
  auto exiting_with = [](int code) {
    return failure_of(2, [code](int rank) -> std::string {
      if (rank == 1) _exit(code);
      return "";
    });
  };
  CHECK(exiting_with(7) == "rank 1 of 2 failed: ended with exit code 7 before its function returned");
  CHECK(exiting_with(0) == "rank 1 of 2 failed: ended with exit code 0 before its function returned");
}

TEST_CASE("an exception of any type is caught") {
  CHECK(failure_of(1, [](int) -> std::string { throw 5; }) ==
        "rank 0 of 1 failed: an exception that is not a std::exception");
}

TEST_CASE("when time is up the ranks that still run are named and killed") {
  auto start = Clock::now();
  auto text = failure_of(
      3,
      [](int rank) -> std::string {
        if (rank == 1) return "";
        signal(SIGTERM, SIG_IGN);
        return sleep_for_ever(rank);
      },
      500ms);
  CHECK(text == "after 0.5 s these of 3 ranks were still running: 0, 2");
  CHECK(Clock::now() - start < 3s);
}

TEST_CASE("a rank ignores what the program ignores, as a hang-up under nohup") {
  auto before = signal(SIGHUP, SIG_IGN);
  ScopeExit put_back([&] { signal(SIGHUP, before); });
  auto hang_up = [](int) {
    raise(SIGHUP);
    return std::string("alive");
  };
  CHECK(fork_ranks(1, hang_up, {.timeout = 20s}) == std::vector<std::string>{"alive"});
}

TEST_CASE("a program that ignores the ends of children can launch, and hears of ranks that end") {
  auto before = signal(SIGCHLD, SIG_IGN);
  ScopeExit put_back([&] { signal(SIGCHLD, before); });
  CHECK(fork_ranks(2, [](int rank) { return std::to_string(rank); }) == std::vector<std::string>{"0", "1"});
  auto text = failure_of(2, [](int rank) {
    if (rank == 1) _exit(3);
    return sleep_for_ever(rank);
  });
  CHECK_MESSAGE(text.find("rank 1 of 2 failed: its process ended before its function returned") == 0, text);
}

TEST_CASE("no process outlives the call, and no descriptor leaks") {
  auto count_fds = [] {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
  };
  int before = count_fds();
  char path[] = "/tmp/rank_pids_XXXXXX";
  int pids = mkstemp(path);
  ScopeExit clean([&] { unlink(path); });
  failure_of(4, [&](int rank) -> std::string {
    auto line = std::to_string(getpid()) + "\n";
    if (write(pids, line.data(), line.size()) < 0) fail("write");
    if (rank == 3) {
      usleep(200'000);
      fail("enough");
    }
    return sleep_for_ever(rank);
  });
  close(pids);
  CHECK(count_fds() == before);
  std::ifstream lines(path);
  int seen = 0;
  for (pid_t pid; lines >> pid; ++seen) CHECK(kill(pid, 0) != 0);
  CHECK(seen == 4);
}

TEST_CASE("a rank that has returned stays until the others have, so that it breaks no connection") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  auto results = fork_ranks(2,
                            [&](int rank) -> std::string {
                              pid_t sibling = getpid();
                              if (rank == 0) return write(ends[1], &sibling, sizeof(sibling)) > 0 ? "" : "write failed";
                              if (read(ends[0], &sibling, sizeof(sibling)) <= 0) return "read failed";
                              usleep(200'000);
                              return kill(sibling, 0) == 0 ? "alive" : "gone";
                            },
                            {.timeout = 20s});
  close(ends[0]);
  close(ends[1]);
  CHECK(results[1] == "alive");
}

TEST_CASE("fewer than one process is an error") {
  CHECK(failure_of(0, sleep_for_ever) == "num_processes is 0; it must be at least 1");
  CHECK(failure_of(-3, sleep_for_ever) == "num_processes is -3; it must be at least 1");
}

TEST_CASE("a rank that lost a peer is not blamed for it, although the peer takes longer to end") {
  auto body = [](int rank) -> std::string {
    if (rank == 0) {
      process::note_lost_peer("rank 1 has left the group");
      fail("rank 1 has left the group");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    _exit(7);
  };
  CHECK(tests::failure_of([&] { ranks::fork_ranks(2, body); }) ==
        "rank 1 of 2 failed: ended with exit code 7 before its function returned");
  CHECK_FALSE(process::has_lost_peer());  // here
}

TEST_CASE("more ranks than the machine can hold are refused with the limit") {
  auto text = tests::failure_of([] { ranks::fork_ranks(2'000'000'000, [](int) { return std::string(); }); });
  CHECK_MESSAGE(text.find("num_processes is 2000000000, but there is room for ") == 0, text);
}
