// What a Topology answers from the cards of the ranks, and how the ranks use it.

#include "accelerate/comm/topology.h"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <thread>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/comm/rendezvous.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/forbid_call.h"
#include "tests/support/rank_test.h"

using namespace accelerate;
using namespace accelerate::comm;

namespace {

struct Where {
  std::string boot_id;
  std::string network = "net:[1]";
};

Machines machines_with(const std::vector<Where>& places) {
  std::vector<RankCard> cards;
  for (const auto& place : places) cards.push_back({.boot_id = place.boot_id, .network = place.network});
  std::vector<int> all(cards.size());
  std::iota(all.begin(), all.end(), 0);
  return Topology(cards).machines_of(all);
}

std::vector<int> leaders_with(const std::vector<std::pair<std::string, int>>& hosts_and_local_ranks) {
  std::vector<RankCard> cards;
  for (const auto& [host, local_rank] : hosts_and_local_ranks)
    cards.push_back({.host = host, .local_rank = local_rank});
  const Topology topology(cards);
  std::vector<int> leaders;
  for (int rank = 0; rank < topology.size(); ++rank) leaders.push_back(topology.leader_of(rank));
  return leaders;
}

std::vector<Sharers> sharers_with(const std::vector<std::pair<std::string, std::vector<int>>>& boot_ids_and_cores) {
  std::vector<RankCard> cards;
  for (const auto& [boot_id, cores] : boot_ids_and_cores) {
    // Every rank has its own network: containers share cores all the same.
    cards.push_back({.boot_id = boot_id, .network = std::to_string(cards.size()), .cores = cores});
  }
  const Topology topology(cards);
  std::vector<Sharers> sharers;
  for (int rank = 0; rank < topology.size(); ++rank) sharers.push_back(topology.core_sharers(rank));
  return sharers;
}

}  // namespace

TEST_CASE("a card survives its way through the store, whatever is in its texts") {
  const RankCard card{.job = "world size 2, run id 'a \"b\"\n\\c', accelerate 1",
                      .host = "node 7",
                      .boot_id = "",
                      .network = "net:[4026531840]",
                      .cores = {0, 1, 130},
                      .numa_nodes = {1},
                      .local_rank = 3,
                      .pid = 4711,
                      .shares_memory = false};
  CHECK(RankCard::from_text(card.to_text()) == card);
  CHECK(RankCard::from_text(RankCard{}.to_text()) == RankCard{});
  std::istringstream two(card.to_text() + "\n" + RankCard{.host = "b"}.to_text() + "\n");
  CHECK(RankCard::read(two) == card);
  CHECK(RankCard::read(two).host == "b");
  CHECK(RankCard::from_text("world size 2, run id 'none', accelerate 0.1").job ==
        "world size 2, run id 'none', accelerate 0.1");
}

TEST_CASE("ranks are grouped by machine, whatever their order") {
  CHECK(machines_with({}).empty());
  CHECK(machines_with({{"a"}}) == Machines{{0}});
  CHECK(machines_with({{"a"}, {"a"}, {"b"}, {"b"}}) == Machines{{0, 1}, {2, 3}});
  CHECK(machines_with({{"b"}, {"a"}, {"b"}, {"a"}, {"c"}}) == Machines{{0, 2}, {1, 3}, {4}});
}

TEST_CASE("containers with networks of their own are machines of their own, and so are equal networks of two kernels") {
  CHECK(machines_with({{"a", "1"}, {"a", "2"}, {"a", "1"}}) == Machines{{0, 2}, {1}});
  CHECK(machines_with({{"a", "1"}, {"b", "1"}}) == Machines{{0}, {1}});
}

TEST_CASE("the machines of a subgroup are numbered within it") {
  const Topology topology({{.boot_id = "a"}, {.boot_id = "b"}, {.boot_id = "a"}, {.boot_id = "b"}});
  CHECK(topology.machines_of({1, 2, 3}) == Machines{{0, 2}, {1}});
  CHECK_FALSE(topology.one_machine());
  CHECK(topology.same_machine(0, 2));
  CHECK(Topology({{.boot_id = "a"}, {.boot_id = "a"}}).one_machine());
}

TEST_CASE("every rank has a place on one machine") {
  const Machines machines{{0, 2}, {1, 3}};
  CHECK(place_of(machines, 0) == MachinePlace{0, 0});
  CHECK(place_of(machines, 3) == MachinePlace{1, 1});
  CHECK(all_alike(machines));
  CHECK_FALSE(all_alike({{0, 1}, {2}}));
  CHECK_THROWS_WITH_AS(place_of(machines, 4), doctest::Contains("no rank 4"), Error);
}

TEST_CASE("the leader of a machine is found for block and for cyclic distribution of ranks") {
  CHECK(leaders_with({{"a", 0}, {"a", 1}, {"b", 0}, {"b", 1}}) == std::vector<int>{0, 0, 2, 2});
  CHECK(leaders_with({{"a", 0}, {"b", 0}, {"a", 1}, {"b", 1}}) == std::vector<int>{0, 1, 0, 1});
  CHECK(leaders_with({{"a", 0}, {"a", 1}, {"a", 0}, {"a", 1}}) == std::vector<int>{0, 0, 2, 2});  // two launchers
}

TEST_CASE("ranks share cores with ranks of their machine that may run on one of theirs") {
  using All = std::vector<Sharers>;
  CHECK((sharers_with({{"a", {0, 1}}, {"a", {0, 1}}}) == All{{2, 0}, {2, 1}}));   // bound by no launcher
  CHECK((sharers_with({{"a", {0, 1}}, {"a", {2, 3}}}) == All{{1, 0}, {1, 0}}));   // each on its own
  CHECK((sharers_with({{"a", {0}}, {"b", {0}}}) == All{{1, 0}, {1, 0}}));         // of two machines
  CHECK((sharers_with({{"a", {0, 1}}, {"a", {4}}, {"a", {0, 1}}, {"a", {4}}}) ==  // two for each socket
         All{{2, 0}, {2, 0}, {2, 1}, {2, 1}}));
}

TEST_CASE("ranks share a NUMA node if their cores do") {
  const Topology topology({{.boot_id = "a", .cores = {0}, .numa_nodes = {0}},
                           {.boot_id = "a", .cores = {1}, .numa_nodes = {0}},
                           {.boot_id = "a", .cores = {8}, .numa_nodes = {1}}});
  CHECK(topology.numa_sharers(0) == Sharers{2, 0});
  CHECK(topology.numa_sharers(1) == Sharers{2, 1});
  CHECK(topology.numa_sharers(2) == Sharers{1, 0});
  CHECK(topology.core_sharers(0) == Sharers{1, 0});
}

TEST_CASE("a job knows its ranks, and a subgroup asks the same cards") {
  tests::run_ranks(3, [](Group& everyone) {
    const auto& topology = everyone.connection()->topology();
    REQUIRE(topology.size() == 3);
    CHECK(topology.card(everyone.rank()).pid == getpid());
    CHECK(topology.card(everyone.rank()).local_rank == everyone.rank());
    CHECK(topology.one_machine());
    const auto pair = everyone.subgroup({0, 2});
    if (pair) CHECK(&pair->connection()->topology() == &topology);
  });
}

TEST_CASE("one rank that asks for TCP makes all ranks use it") {
  tests::run_ranks(3, [](Group& everyone) {
    PartialState::reset();
    const PartialState state({.backend = everyone.rank() == 1 ? "gloo" : "auto"});
    CHECK(state.backend() == "gloo");
    everyone.barrier();
  });
}

TEST_CASE("one rank that cannot identify its machine makes all ranks use TCP, and one line says so") {
  for (int unidentified : {0, 1}) {
    tests::run_ranks(2, [&](Group& everyone) {
      const auto store =
          c10::make_intrusive<c10d::PrefixStore>("again", everyone.connection()->process_group()->getStore());
      const ProcessEnvironment process{.rank = everyone.rank(), .world_size = 2};
      RankCard card;
      std::thread([&] {
        if (everyone.rank() == unidentified) tests::forbid_call(SYS_openat);  // as if there were no /proc
        card = make_card(process);
      }).join();
      CHECK(card.boot_id.empty() == (everyone.rank() == unidentified));
      Group::Connection::Options options{.local_address = "127.0.0.1"};
      options.topology = std::make_shared<Topology>(verify_ranks(*store, process, card, std::chrono::seconds(20)));
      const auto text = tests::captured_stderr([&] {
        const Group::Connection connection(store, everyone.rank(), 2, options);
        CHECK(connection.transport() == Transport::Gloo);
      });
      const auto reason = "the ranks talk over TCP, because rank " + std::to_string(unidentified) +
                          " cannot read /proc/sys/kernel/random/boot_id, which tells machines apart\n";
      CHECK_MESSAGE((text.find(reason) != std::string::npos) == (everyone.rank() == 0), text);
      CHECK_MESSAGE(std::count(text.begin(), text.end(), '\n') == (everyone.rank() == 0 ? 1 : 0), text);
      everyone.barrier();
    });
  }
}
