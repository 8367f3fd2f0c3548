#include "accelerate/launch/supervisor.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "accelerate/launch/failure_log.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::launch;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

/// Ranks that are lines of shell, in a directory of their own.
struct Job {
  void start(const std::string& script) {
    process::ChildProcess::Setup setup;
    setup.environment = {"NOTES=" + directory.path().string(), "PATH=/usr/bin:/bin"};
    setup.signal_mask = signals.original_mask();
    int number = static_cast<int>(ranks.size());
    ranks.push_back(
        {number, std::make_unique<process::ChildProcess>(process::Command{"/bin/sh", {"sh", "-c", script}}, setup)});
  }
  tests::TemporaryDirectory directory;  // first, so that it outlives the ranks
  process::SignalWatch signals;
  std::vector<Rank> ranks;
};

}  // namespace

TEST_CASE("a rank that ignores SIGTERM is killed after the timeout") {
  Job job;
  job.start("trap '' TERM; echo ready > $NOTES/ready; while true; do sleep 1; done");
  job.start("while [ ! -e $NOTES/ready ]; do sleep 0.01; done; exit 4");
  auto begin = Clock::now();
  auto outcome = supervise(job.ranks, job.signals, {.after_failure = 300ms});
  CHECK(outcome.exit_code == 4);
  CHECK(outcome.failed == 1);
  CHECK(outcome.others_stopped);
  CHECK(Clock::now() - begin >= 300ms);
  CHECK(Clock::now() - begin < 5s);
  CHECK(job.ranks[0].child->wait_status() == SIGKILL);
}

TEST_CASE("a second request to stop kills at once") {
  Job job;
  job.start("trap '' INT; echo ready > $NOTES/ready; while true; do sleep 1; done");
  while (!fs::exists(job.directory.path() / "ready")) usleep(1000);
  kill(getpid(), SIGINT);
  pid_t sender = fork();  // a second request once the first one has been taken
  if (sender == 0) {
    usleep(200'000);
    kill(getppid(), SIGINT);
    _exit(0);
  }
  auto begin = Clock::now();
  auto outcome = supervise(job.ranks, job.signals, {.after_request = 60s});
  CHECK(outcome.stopped_by == SIGINT);
  CHECK(outcome.exit_code == 128 + SIGINT);
  CHECK(Clock::now() - begin < 5s);
  CHECK(job.ranks[0].child->wait_status() == SIGKILL);
}

TEST_CASE("a request to stop while the peers of a failed rank are stopped is remembered") {
  for (auto delay : {20ms, 400ms}) {  // while it settles who failed, and while the others end
    Job job;
    job.start("trap '' TERM; echo ready > $NOTES/ready; while true; do sleep 0.1; done");
    job.start("while [ ! -e $NOTES/ready ]; do sleep 0.01; done; touch $NOTES/failing; exit 4");
    pid_t sender = fork();
    if (sender == 0) {
      while (!fs::exists(job.directory.path() / "failing")) usleep(1000);
      usleep(static_cast<useconds_t>(std::chrono::microseconds(delay).count()));
      kill(getppid(), SIGINT);
      _exit(0);
    }
    auto outcome = supervise(job.ranks, job.signals, {.after_failure = 1s});
    CHECK(outcome.failed == 1);
    CHECK(outcome.exit_code == 4);
    CHECK(outcome.stopped_by == SIGINT);
    waitpid(sender, nullptr, 0);
  }
}

TEST_CASE("a rank that lost a peer is the root cause only if the peer has not ended in time") {
  for (bool in_time : {true, false}) {
    Job job;
    for (const char* name : {"0", "1"}) fs::create_directory(job.directory.path() / name);
    // The second complains and ends at once; the first, whose fault it is, takes its time.
    job.start(in_time ? "sleep 0.5; exit 7" : "sleep 60; exit 7");
    job.start("echo gone > $NOTES/1/lost_peer.txt; exit 1");
    for (auto& rank : job.ranks) {
      rank.error_file = job.directory.path() / std::to_string(rank.number) / "error.json";
    }
    auto outcome = supervise(job.ranks, job.signals, {.of_lost_peer = in_time ? 30s : 1s});
    CHECK(outcome.failed == (in_time ? 0 : 1));
    CHECK(outcome.exit_code == (in_time ? 7 : 1));
    CHECK(outcome.lost_peer == !in_time);
  }
}

TEST_CASE("the order of ends is the kernel's, however late the launcher looks") {
  for (int first : {0, 1}) {
    Job job;
    for (int rank : {0, 1})
      job.start(rank == first ? "exit 7" : "while [ ! -e $NOTES/go ]; do sleep 0.01; done; exit 1");
    FailureLog log(job.ranks);
    while (!job.ranks[static_cast<size_t>(first)].child->wait_status()) usleep(1000);
    std::ofstream(job.directory.path() / "go");
    while (!job.ranks[static_cast<size_t>(1 - first)].child->wait_status()) usleep(1000);
    log.look();
    CHECK(log.root_cause().index == static_cast<size_t>(first));
    CHECK_FALSE(log.only_victims());
  }
}

TEST_CASE("only a request to stop ends a pause early") {
  process::SignalWatch signals;
  pid_t child = fork();  // whose end is a signal, too
  if (child == 0) _exit(0);
  raise(SIGUSR2);
  auto begin = Clock::now();
  CHECK(signals.request_to_stop(200ms) == 0);
  CHECK(Clock::now() - begin >= 200ms);
  raise(SIGTERM);
  CHECK(signals.request_to_stop(60s) == SIGTERM);
  CHECK(Clock::now() - begin < 30s);
  waitpid(child, nullptr, 0);
}
