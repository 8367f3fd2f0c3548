// Groups of some of a job's ranks.

#include <csignal>
#include <thread>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::comm;

namespace {

/// The sum over the group of the ranks that its members have in the job.
float sum_over(const Group& members, int job_rank) {
  return reduce(torch::full({1}, static_cast<float>(job_rank)), members, "sum").item<float>();
}

}  // namespace

TEST_CASE("disjoint groups work at the same time, and overlapping ones one after the other") {
  for (const char* backend : {"shm", "gloo"}) {
    CAPTURE(backend);
    tests::run_ranks(4, [&](Group&) {
      PartialState::reset();
      PartialState state({.backend = backend});
      const auto& everyone = state.group();
      const int rank = everyone.rank();
      auto even = everyone.subgroup({2, 0});
      auto odd = everyone.subgroup({1, 3});
      CHECK(even.has_value() == (rank % 2 == 0));
      CHECK(odd.has_value() == (rank % 2 == 1));
      const auto& half = rank % 2 == 0 ? *even : *odd;
      CHECK(half.size() == 2);
      CHECK(half.rank() == rank / 2);
      CHECK(to_string(half.connection()->transport()) == std::string(backend));
      for (int i = 0; i < 20; ++i) CHECK(sum_over(half, rank) == (rank % 2 == 0 ? 2 : 4));

      auto middle = everyone.subgroup({1, 2});
      auto first = everyone.subgroup({0, 1, 2});
      CHECK(middle.has_value() == (rank == 1 || rank == 2));
      CHECK(first.has_value() == (rank < 3));
      if (middle) CHECK(sum_over(*middle, rank) == 3);
      if (first) CHECK(sum_over(*first, rank) == 3);
      CHECK(sum_over(half, rank) == (rank % 2 == 0 ? 2 : 4));
      CHECK(sum_over(everyone, rank) == 6);
      everyone.barrier();
    });
  }
}

TEST_CASE("a group of a group, one of one rank, and one of all ranks") {
  tests::run_ranks(3, [](Group& everyone) {
    auto all = everyone.subgroup({0, 1, 2});
    REQUIRE(all);
    CHECK(sum_over(*all, everyone.rank()) == 3);
    auto later = all->subgroup({1, 2});
    CHECK(later.has_value() == (everyone.rank() > 0));
    if (later) CHECK(sum_over(*later, everyone.rank()) == 3);
    auto alone = everyone.subgroup({2});
    CHECK(alone.has_value() == (everyone.rank() == 2));
    if (alone) CHECK(alone->size() == 1);
  });
  CHECK(Group().subgroup({0})->size() == 1);
}

TEST_CASE("ranks that are not there, named twice, or not named by all are an error") {
  tests::run_ranks(2, [](Group& group) {
    CHECK_THROWS_WITH_AS(group.subgroup({}), doctest::Contains("the list of its ranks is empty"), Error);
    CHECK_THROWS_WITH_AS(group.subgroup({0, 2}), doctest::Contains("there is no rank 2 in a group of 2"), Error);
    CHECK_THROWS_WITH_AS(group.subgroup({-1}), doctest::Contains("there is no rank -1"), Error);
    CHECK_THROWS_WITH_AS(group.subgroup({1, 0, 1}), doctest::Contains("rank 1 is named twice in 0, 1, 1"), Error);
    CHECK_THROWS_WITH_AS(group.subgroup({group.rank()}),
                         doctest::Contains("different members:\n  - Process 0: 0\n  - Process 1: 1"), Error);
    // Only the list of rank 1 is invalid: rank 0 must not wait for it.
    CHECK_THROWS_WITH_AS(group.subgroup(group.rank() == 0 ? std::vector{0, 1} : std::vector{0, 7}),
                         doctest::Contains("different members:\n  - Process 0: 0, 1\n  - Process 1: 0, 7"), Error);
    CHECK_THROWS_WITH_AS(group.subgroup(group.rank() == 0 ? std::vector{0, 1} : std::vector<int>{}),
                         doctest::Contains("\n  - Process 1: none"), Error);
    CHECK(sum_over(*group.subgroup({0, 1}), group.rank()) == 1);
  });
}

TEST_CASE("members are named as in the job: who is lost, and who calls something else") {
  tests::TemporaryDirectory directory;
  auto body = [&](Group& everyone) {
    auto odd = everyone.subgroup({1, 3});
    if (!odd) return std::this_thread::sleep_for(std::chrono::seconds(3));
    CHECK_THROWS_WITH_AS(odd->all_gather(torch::ones({2, 2 + odd->rank()})),
                         doctest::Contains("\n  - Process 3: gather Float [2, 3]"), Error);
    if (everyone.rank() == 3) raise(SIGKILL);
    try {
      odd->barrier("the end of the epoch");
    } catch (const Error& error) {
      directory.write("1", error.what());
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the test is over when the first rank's end is noticed
  };
  CHECK_THROWS_WITH_AS(tests::run_ranks(4, body), doctest::Contains("rank 3 of 4 failed"), Error);
  auto message = directory.read("1");
  CHECK_MESSAGE(message.find("rank 1 of the group of ranks 1, 3: the end of the epoch") == 0, message);
  CHECK_MESSAGE(message.find("the process of rank 3 has ended") != std::string::npos, message);
}
