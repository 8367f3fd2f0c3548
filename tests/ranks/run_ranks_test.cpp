#include "accelerate/ranks/run_ranks.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include "accelerate/base/error.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/ranks/launchers.h"
#include "tests/support/failure_of.h"
#include "tests/support/rank_test.h"
#include "tests/support/redirected_stdout.h"
#include "tests/support/torch.h"

using namespace accelerate;
using accelerate::tests::failure_of;
using namespace std::chrono_literals;

namespace {

/// The same, for an action whose checks are meant to fail: doctest's words about them are not shown.
template <class Action>
std::string failure_without_output(Action action) {
  int nowhere = open("/dev/null", O_WRONLY);
  tests::RedirectedStdout redirected(nowhere);
  close(nowhere);
  return failure_of(action);
}

}  // namespace

TEST_CASE("ranks are connected: they gather and reduce") {
  for (int size : {1, 2, 3, 4}) {
    tests::run_ranks(size, [size](comm::Group& group) {
      REQUIRE(group.size() == size);
      auto mine = torch::full({2}, group.rank() + 1.0);
      CHECK(group.all_gather(mine).sum().item<double>() == size * (size + 1.0));
      group.all_reduce(mine);
      CHECK(mine[0].item<double>() == size * (size + 1) / 2.0);
      group.barrier();
    });
  }
}

TEST_CASE("ranks are connected although the parent has used libtorch and found itself alone") {
  auto matrix = torch::ones({400, 400}, torch::requires_grad());
  torch::matmul(matrix, matrix).sum().backward();
  CHECK(PartialState().num_processes() == 1);
  tests::run_ranks(2, [](comm::Group& group) {
    CHECK(group.size() == 2);
    CHECK(PartialState().num_processes() == 2);
    CHECK(PartialState().local_process_index() == group.rank());
    CHECK(PartialState().distributed_type() == DistributedType::MultiCpu);
    auto matrix = torch::ones({400, 400}, torch::requires_grad());
    torch::matmul(matrix, matrix).sum().backward();
    auto gradient = matrix.grad();
    group.all_reduce(gradient);
    CHECK(gradient[0][0].item<double>() == 1600.0);
  });
  CHECK(PartialState().num_processes() == 1);
}

TEST_CASE("a failing rank brings down one that waits for it in a collective, with its own message") {
  auto text = failure_of([] {
    run_ranks(2, [](comm::Group& group) {
      if (group.rank() == 1) fail("the data set is empty");
      group.barrier();
    });
  });
  CHECK(text == "rank 1 of 2 failed: the data set is empty");
}

TEST_CASE("a check that fails in one rank fails the test that started it") {
  auto text = failure_without_output([] {
    tests::run_ranks(2, [](comm::Group& group) {
      CHECK(group.rank() == 0);
      CHECK_MESSAGE(group.rank() < 1, "a second one");
      WARN(group.rank() == 5);
    });
  });
  CHECK(text == "rank 1 of 2 failed: 2 checks failed in this rank, printed above");
  text = failure_without_output([] {
    tests::run_ranks(2, [](comm::Group& group) {
      REQUIRE(group.rank() == 1);
      FAIL_CHECK("rank 1 fails too");
    });
  });
  CHECK_MESSAGE(text.find("1 check failed in this rank") != std::string::npos, text);
}

TEST_CASE("run_ranks names the ranks that are still running when time is up") {
  auto text = failure_of([] {
    run_ranks(2,
              [](comm::Group& group) {
                if (group.rank() == 0) group.barrier("waiting for rank 1");
                while (true) pause();
              },
              {.timeout = 1500ms});
  });
  CHECK(text == "after 1.5 s these of 2 ranks were still running: 0, 1");
}

TEST_CASE("debug_launcher passes arguments and lets every rank find its place") {
  debug_launcher(
      [](int expected_size, const std::string& greeting) {
        PartialState state;
        if (state.num_processes() != expected_size || greeting != "hello") fail("wrong arguments");
        auto ranks = torch::tensor({state.process_index()});
        if (state.group().all_gather(ranks).size(0) != expected_size) fail("not connected");
      },
      3, 3, "hello");
  CHECK_THROWS_WITH_AS(debug_launcher([] { fail("a mistake"); }), doctest::Contains("failed: a mistake"), Error);
}

TEST_CASE("a rank cannot fork ranks of its own") {
  auto text = failure_of([] { run_ranks(2, [](comm::Group&) { debug_launcher([] {}); }); });
  CHECK_MESSAGE(text.find("ranks cannot be forked from a rank") != std::string::npos, text);
}
