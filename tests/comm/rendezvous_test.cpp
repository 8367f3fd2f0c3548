#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/comm/rendezvous.h"
#include "accelerate/comm/store.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/rank_test.h"
#include "tests/support/resolver.h"

using namespace accelerate;
using namespace accelerate::comm;

namespace {

/// Ranks that change what they were told before they meet again; each must fail with `reason` within two seconds.
void expect_refusal(int num_processes, const std::function<void(int rank)>& change, const char* reason) {
  tests::run_ranks(num_processes, [&](Group& group) {
    PartialState::reset();
    change(group.rank());
    auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH_AS(PartialState(), doctest::Contains(reason), Error);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
    group.barrier();  // the store lives as long as rank 0
  });
}

}  // namespace

TEST_CASE("ranks that differ in world size are refused, both values named") {
  auto change_world = [](int rank) {
    setenv("WORLD_SIZE", rank == 0 ? "2" : "3", 1);
    setenv("LOCAL_WORLD_SIZE", rank == 0 ? "2" : "3", 1);
  };
  expect_refusal(2, change_world, "has world size 3");
}

TEST_CASE("a rank that waits learns why the job is refused, although rank 0 ends at once") {
  tests::run_ranks(3, [](Group& group) {
    PartialState::reset();
    // The longer rank 1 waits, the longer it pauses between two looks.
    if (group.rank() != 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (group.rank() == 2) {
      setenv("WORLD_SIZE", "4", 1);
      setenv("LOCAL_WORLD_SIZE", "4", 1);
    }
    CHECK_THROWS_WITH_AS(PartialState(), doctest::Contains("do not belong to one job"), Error);
  });
}

TEST_CASE("two processes that claim one rank are refused") {
  expect_refusal(
      3,
      [](int rank) {
        if (rank == 2) setenv("RANK", "1", 1);
      },
      "two processes claim rank 1");
}

TEST_CASE("an address without rank 0 is told apart: refused, or not resolved") {
  int free_port = LoopbackPort().number();
  auto limit = std::chrono::milliseconds(300);
  CHECK_THROWS_WITH_AS(wait_until_reachable("127.0.0.1", free_port, limit), doctest::Contains("refused"), Error);
  CHECK_THROWS_WITH_AS(wait_until_reachable("no-such-host.invalid", free_port, limit),
                       doctest::Contains("cannot be resolved"), Error);
  CHECK(local_address_towards("127.0.0.1") == "127.0.0.1");
}

TEST_CASE("a second rank 0 at the port of the job learns what to change") {
  LoopbackPort port;
  port.listen();
  ProcessEnvironment process;  // of two machines, as with --machine_rank 0 on both
  process.world_size = 2;
  process.distributed = true;
  process.main_port = port.number();
  CHECK_THROWS_WITH_AS(open_store(process, std::chrono::seconds(5)), doctest::Contains("--machine_rank 0"), Error);
  CHECK_THROWS_WITH_AS(open_store(process, std::chrono::seconds(5)), doctest::Contains("is in use"), Error);
}

TEST_CASE("a name server that does not answer is no reason to warn") {
  auto text = tests::captured_stderr([] {
    auto broken = tests::break_names(EAI_AGAIN);
    tests::run_ranks(2, [](Group& group) { group.barrier(); });
  });
  CHECK(text == "");
}

TEST_CASE("a store that ends while the ranks connect is told by an exception alone") {
  c10d::TCPStoreOptions options;
  options.isServer = true;
  options.port = 0;
  options.waitWorkers = false;
  auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  options.port = server->getPort();
  options.isServer = false;
  auto client = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  server.reset();
  auto text = tests::captured_stderr([&] {
    const ProcessEnvironment process{.rank = 1, .world_size = 2};
    CHECK_THROWS(verify_ranks(*client, process, make_card(process), std::chrono::seconds(5)));
    const auto topology = std::make_shared<Topology>(std::vector{make_card(process), make_card(process)});
    CHECK_THROWS(Group::Connection(client, 1, 2, {.topology = topology}));
  });
  CHECK(text == "");
}

TEST_CASE("the name of rank 0's machine may appear while others wait for it") {
  LoopbackPort port;
  port.listen();
  tests::resolver_error = EAI_NONAME;
  CHECK_THROWS_WITH_AS(wait_until_reachable("localhost", port.number(), std::chrono::milliseconds(50)),
                       doctest::Contains(gai_strerror(EAI_NONAME)), Error);
  std::thread pod_starts([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    tests::resolver_error = 0;
  });
  wait_until_reachable("localhost", port.number(), std::chrono::seconds(30));
  pod_starts.join();
}

TEST_CASE("a level of logging that is none is refused when the process joins its job") {
  tests::run_ranks(1, [](Group&) {
    PartialState::reset();
    setenv("ACCELERATE_LOG_LEVEL", "loud", 1);
    CHECK_THROWS_WITH_AS(PartialState(), doctest::Contains("ACCELERATE_LOG_LEVEL is 'loud'"), Error);
  });
}
