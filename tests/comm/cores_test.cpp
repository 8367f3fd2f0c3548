// Which cores the ranks of a machine run on.

#include <ATen/Parallel.h>
#include <doctest/doctest.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/core_sharers.h"
#include "accelerate/comm/partial_state.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;

TEST_CASE("ranks share cores with those of their machine that may run on one of theirs") {
  using comm::CoreSharers;
  auto sharers = [](const std::vector<comm::RankCores>& ranks) {
    std::vector<CoreSharers> all;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      all.push_back(comm::find_core_sharers(ranks, static_cast<int>(rank)));
    }
    return all;
  };
  using All = std::vector<CoreSharers>;
  CHECK((sharers({{"a", {0, 1}}, {"a", {0, 1}}}) == All{{2, 0}, {2, 1}}));   // bound by nobody
  CHECK((sharers({{"a", {0, 1}}, {"a", {2, 3}}}) == All{{1, 0}, {1, 0}}));   // each on its own
  CHECK((sharers({{"a", {0}}, {"b", {0}}}) == All{{1, 0}, {1, 0}}));         // of two machines
  CHECK((sharers({{"a", {0, 1}}, {"a", {4}}, {"a", {0, 1}}, {"a", {4}}}) ==  // two for each socket
         All{{2, 0}, {2, 0}, {2, 1}, {2, 1}}));
}

TEST_CASE("a rank that its launcher has bound to cores of its own uses all of them") {
  const auto all = allowed_cores();
  if (all.size() < 2) return;
  tests::run_ranks(2, [&](comm::Group& group) {
    // As taskset does, before the rank joins its job: the first core for rank 0, the rest for rank 1.
    const std::vector<int> mine =
        group.rank() == 0 ? std::vector{all.front()} : std::vector(all.begin() + 1, all.end());
    auto sharers = [&](const char* when) {
      c10d::PrefixStore store(when, group.connection()->process_group()->getStore());
      return comm::find_core_sharers(store, group.rank(), group.size());
    };
    CHECK(sharers("before") == comm::CoreSharers{2, group.rank()});
    REQUIRE(stay_on_cores(mine));
    CHECK(sharers("after") == comm::CoreSharers{1, 0});
    PatchEnvironment own_cores{{"ACCELERATE_CPU_AFFINITY", "1"}, {"OMP_NUM_THREADS", std::nullopt}};
    comm::PartialState::reset();
    comm::PartialState again;
    CHECK(allowed_cores() == mine);
    CHECK(at::get_num_threads() == fair_threads(1));
  });
}

TEST_CASE("ranks run on any core, and each on its own when that is asked for") {
  const auto all = allowed_cores();
  tests::run_ranks(2, [&](comm::Group&) { CHECK(allowed_cores() == all); });

  PatchEnvironment own_cores{{"ACCELERATE_CPU_AFFINITY", "1"}};
  tests::run_ranks(2, [&](comm::Group& group) {
    const auto mine = cores_of_process(all, group.rank(), 2);
    CHECK(allowed_cores() == mine);
    comm::PartialState::reset();
    comm::PartialState again;
    CHECK(allowed_cores() == mine);
  });
}
