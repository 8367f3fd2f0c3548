#include "accelerate/launch/machines/machine_link.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <functional>
#include <thread>

using namespace accelerate;
using namespace accelerate::launch;

namespace {

/// The links of `count` machines, all in this process.
std::vector<std::unique_ptr<MachineLink>> linked_machines(int count, int port) {
  std::vector<LineSocket> others;
  std::vector<std::unique_ptr<MachineLink>> links(1);
  for (int machine = 1; machine < count; ++machine) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    others.emplace_back(Descriptor(ends[0]));
    links.push_back(link_to_main_machine(LineSocket(Descriptor(ends[1]))));
  }
  links[0] = link_as_main_machine(std::move(others), port);
  return links;
}

/// What each machine decides when its ranks end as told; a machine that ends well first waits to hear of a failure.
std::vector<Decision> settle_all(std::vector<std::unique_ptr<MachineLink>>& links, const std::vector<Outcome>& outcomes,
                                 bool starts_left) {
  process::SignalWatch signals;
  std::vector<Decision> decisions(links.size());
  bool any_failed = false;
  for (const auto& outcome : outcomes) any_failed |= outcome.exit_code != 0;
  std::vector<std::thread> threads;
  for (size_t machine = 0; machine < links.size(); ++machine) {
    threads.emplace_back([&, machine] {
      auto& link = *links[machine];
      while (any_failed && outcomes[machine].exit_code == 0 && link.remote_state() == RemoteState::Running)
        std::this_thread::yield();
      decisions[machine] = link.settle(outcomes[machine], starts_left, signals);
    });
  }
  for (auto& thread : threads) thread.join();
  return decisions;
}

}  // namespace

TEST_CASE("a failure on one machine stops all, and all start again with one port, as often as they may") {
  for (size_t failing : {0, 1, 2}) {
    auto links = linked_machines(3, 29500);
    std::vector<Outcome> outcomes(3);
    outcomes[failing] = {.exit_code = 3, .message = "rank 5 exited with 3\nand more", .may_retry = true};
    for (int attempt = 0; attempt < 2; ++attempt) {
      for (const auto& decision : settle_all(links, outcomes, /*starts_left=*/true)) {
        CHECK(decision.again);
        CHECK(decision.main_process_port == 29500);
      }
    }
    auto decisions = settle_all(links, outcomes, /*starts_left=*/false);
    for (size_t machine = 0; machine < 3; ++machine) {
      CHECK_FALSE(decisions[machine].again);
      CHECK(decisions[machine].outcome.exit_code == 3);
      auto message = machine == failing ? outcomes[failing].message
                                        : "machine " + std::to_string(failing) + ": rank 5 exited with 3";
      CHECK(decisions[machine].outcome.message.starts_with(message));
    }
  }
}

TEST_CASE("the machine that failed first is to blame, and one that only lost a peer is not") {
  struct Case {
    std::vector<Outcome> outcomes;
    size_t blamed;
  };
  Outcome cause{.exit_code = 7, .message = "cause", .unix_milliseconds = 2000};
  Outcome later{.exit_code = 3, .message = "later", .unix_milliseconds = 3000};
  Outcome victim{.exit_code = 1, .message = "victim", .lost_peer = true, .unix_milliseconds = 1000};
  for (const auto& [outcomes, blamed] : std::vector<Case>{
           {{victim, cause, victim}, 1},
           {{cause, victim, victim}, 0},
           {{victim, victim, cause}, 2},
           {{later, cause, victim}, 1},
           {{cause, later, {}}, 0},
       }) {
    auto links = linked_machines(3, 0);
    auto decisions = settle_all(links, outcomes, /*starts_left=*/false);
    for (size_t machine = 0; machine < 3; ++machine) {
      CHECK(decisions[machine].outcome.exit_code == 7);
      CHECK(decisions[machine].outcome.message ==
            (machine == blamed ? "cause" : "machine " + std::to_string(blamed) + ": cause"));
    }
  }
}

TEST_CASE("a lost peer is told apart from a failure, so that the one who is lost has time to end") {
  auto links = linked_machines(2, 0);
  process::SignalWatch signals;
  std::thread main([&] { links[0]->settle({.exit_code = 1, .lost_peer = true}, /*starts_left=*/false, signals); });
  while (links[1]->remote_state() == RemoteState::Running) std::this_thread::yield();
  CHECK(links[1]->remote_state() == RemoteState::LostPeer);
  CHECK(links[1]->settle({.exit_code = 7, .message = "cause"}, false, signals).outcome.message == "cause");
  main.join();
}

TEST_CASE("a job ends well when the ranks of all machines do") {
  auto links = linked_machines(3, 0);
  for (const auto& decision : settle_all(links, std::vector<Outcome>(3), /*starts_left=*/true)) {
    CHECK_FALSE(decision.again);
    CHECK(decision.outcome.exit_code == 0);
    CHECK(decision.outcome.message.empty());
  }
}

TEST_CASE("one machine that may not be started again keeps all from it") {
  auto links = linked_machines(3, 0);
  std::vector<Outcome> outcomes{
      {}, {.exit_code = 127, .message = "no such program"}, {.exit_code = 1, .may_retry = true}};
  for (const auto& decision : settle_all(links, outcomes, /*starts_left=*/true)) {
    CHECK_FALSE(decision.again);
    CHECK(decision.outcome.exit_code != 0);
  }
}

TEST_CASE("rank 0 gets another port for each start, where none is given") {
  auto links = linked_machines(2, 0);
  std::vector<Outcome> outcomes{{}, {.exit_code = 1, .may_retry = true}};
  auto decisions = settle_all(links, outcomes, /*starts_left=*/true);
  CHECK(decisions[0].main_process_port > 0);
  CHECK(decisions[1].main_process_port == decisions[0].main_process_port);
}

TEST_CASE("a machine whose launcher is gone ends the job everywhere") {
  auto links = linked_machines(3, 0);
  links[1].reset();
  links.erase(links.begin() + 1);
  for (auto& link : links) {
    while (link->remote_state() == RemoteState::Running) std::this_thread::yield();
  }
  auto decisions = settle_all(links, std::vector<Outcome>(2), /*starts_left=*/true);
  for (const auto& decision : decisions) {
    CHECK_FALSE(decision.again);
    CHECK(decision.outcome.exit_code == 1);
    CHECK(decision.outcome.message == "machine 1: its launcher has ended");
  }

  links = linked_machines(2, 0);
  links[0].reset();
  process::SignalWatch signals;
  while (links[1]->remote_state() == RemoteState::Running) std::this_thread::yield();
  CHECK(links[1]->settle({}, /*starts_left=*/true, signals).outcome.message == "machine 0: its launcher has ended");
}

TEST_CASE("a launcher that disconnects after its report keeps all machines from a restart") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::vector<LineSocket> others;
  others.emplace_back(Descriptor(ends[0]));
  auto link = link_as_main_machine(std::move(others), 29500);
  LineSocket(Descriptor(ends[1])).send("3 1 0 1000 rank 5 exited with 3");  // and closes
  process::SignalWatch signals;
  auto decision = link->settle({}, /*starts_left=*/true, signals);
  CHECK_FALSE(decision.again);
  CHECK(decision.outcome.exit_code == 3);
  CHECK(decision.outcome.message == "machine 1: rank 5 exited with 3");
}
