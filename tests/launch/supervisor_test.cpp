#include "accelerate/launch/supervisor.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

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
    ChildProcess::Setup setup;
    setup.environment = {"NOTES=" + directory.path().string(), "PATH=/usr/bin:/bin"};
    setup.signal_mask = signals.original_mask();
    int number = static_cast<int>(ranks.size());
    ranks.push_back({number, std::make_unique<ChildProcess>(Command{"/bin/sh", {"sh", "-c", script}}, setup)});
  }
  tests::TemporaryDirectory directory;  // first, so that it outlives the ranks
  SignalWatch signals;
  std::vector<Rank> ranks;
};

}  // namespace

TEST_CASE("a rank that ignores SIGTERM is killed when patience ends") {
  Job job;
  job.start("trap '' TERM; echo ready > $NOTES/ready; while true; do sleep 1; done");
  job.start("while [ ! -e $NOTES/ready ]; do sleep 0.01; done; exit 4");
  auto begin = Clock::now();
  auto verdict = supervise(job.ranks, job.signals, {.with_peers = 300ms});
  CHECK(verdict.exit_code == 4);
  CHECK(verdict.failed == 1);
  CHECK(verdict.others_stopped);
  CHECK(Clock::now() - begin >= 300ms);
  CHECK(Clock::now() - begin < 5s);
  CHECK(job.ranks[0].process->wait_status() == SIGKILL);
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
  auto verdict = supervise(job.ranks, job.signals, {.on_request = 60s});
  CHECK(verdict.stopped_by == SIGINT);
  CHECK(verdict.exit_code == 128 + SIGINT);
  CHECK(Clock::now() - begin < 5s);
  CHECK(job.ranks[0].process->wait_status() == SIGKILL);
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
    auto verdict = supervise(job.ranks, job.signals, {.with_peers = 1s});
    CHECK(verdict.failed == 1);
    CHECK(verdict.exit_code == 4);
    CHECK(verdict.stopped_by == SIGINT);
    waitpid(sender, nullptr, 0);
  }
}

TEST_CASE("only a request to stop ends a pause early") {
  SignalWatch signals;
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
