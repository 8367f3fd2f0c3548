#include "accelerate/process/root_cause.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

using namespace accelerate::process;

namespace {

constexpr int kExit1 = W_EXITCODE(1, 0);
constexpr int kExit7 = W_EXITCODE(7, 0);

Evidence::Time at(int seconds) { return Evidence::Time(std::chrono::seconds(seconds)); }

/// The `order`-th rank to end, seen at that second.
Evidence ended(int wait_status, int order, int second) {
  return {.wait_status = wait_status, .order = order, .ended = at(second)};
}
Evidence reported(Evidence failure, int second) {
  failure.reported = at(second);
  return failure;
}
Evidence without_peer(Evidence failure, int second) {
  failure.lost_peer = at(second);
  return failure;
}

size_t root_cause_of(const std::vector<Evidence>& evidence) {
  std::vector<Failure> failures;
  for (const auto& each : evidence) failures.push_back(failure_of(each));
  return root_cause(failures);
}

}  // namespace

TEST_CASE("the failure that came first is to blame") {
  struct Case {
    std::vector<Evidence> failures;
    size_t first;
  };
  for (const auto& [failures, first] : std::vector<Case>{
           {{ended(kExit1, 0, 9)}, 0},
           {{ended(kExit1, 1, 9), ended(kExit1, 0, 9)}, 1},  // by the order of their ends
           {{ended(kExit1, 1, 9), ended(kExit7, 0, 8)}, 1},
           // A killed rank cannot complain, and its peers do.
           {{ended(kExit1, 0, 9), ended(SIGKILL, 1, 9)}, 1},
           {{reported(ended(kExit1, 0, 9), 5), ended(SIGKILL, 1, 9)}, 1},
           {{ended(SIGKILL, 1, 9), ended(SIGKILL, 0, 9), ended(kExit1, 2, 9)}, 1},
           // Reports tell when a failure began.
           {{reported(ended(kExit1, 0, 9), 5), reported(ended(SIGSEGV, 1, 9), 4)}, 1},
           {{reported(ended(SIGABRT, 0, 9), 5), reported(ended(kExit1, 1, 9), 4)}, 1},
           {{reported(ended(kExit1, 0, 9), 3), reported(ended(kExit1, 1, 9), 3)}, 0},
           // A rank that exits says nothing; it has ended before its peers report.
           {{reported(ended(kExit1, 1, 9), 8), ended(kExit7, 0, 7)}, 1},
           {{ended(kExit7, 1, 9), reported(ended(kExit1, 0, 9), 8)}, 1},  // and here because of them
           // An exception that nobody caught may be about a lost peer.
           {{ended(SIGABRT, 1, 9), ended(kExit7, 0, 8)}, 1},
       }) {
    CHECK(root_cause_of(failures) == first);
  }
}

TEST_CASE("a rank that lost a peer is not to blame for those that did not, whenever they end") {
  auto victim = without_peer(reported(ended(kExit1, 0, 2), 2), 1);
  auto silent_victim = without_peer(ended(kExit1, 0, 2), 1);
  auto aborted_victim = without_peer(ended(SIGABRT, 0, 2), 1);
  for (const auto& failure : {victim, silent_victim, aborted_victim}) {
    CHECK(is_victim(failure));
    for (const auto& cause : {ended(kExit7, 1, 5), ended(SIGKILL, 1, 5), reported(ended(kExit1, 1, 5), 4)}) {
      CHECK_FALSE(is_victim(cause));
      CHECK(root_cause_of({failure, cause}) == 1);
      CHECK(root_cause_of({cause, failure}) == 0);
    }
  }
  // The loss came after a failure of its own, as when its threads notice what it is doing to the job.
  CHECK_FALSE(is_victim(without_peer(reported(ended(kExit1, 0, 9), 3), 4)));
  // If all have lost a peer, as when one of another machine is gone, the first that noticed speaks.
  CHECK(root_cause_of({without_peer(ended(kExit1, 0, 9), 5), without_peer(ended(kExit1, 1, 9), 4)}) == 1);
}
