// Which cores the ranks of a machine run on.

#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/partial_state.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;

TEST_CASE("a rank that its launcher has bound to cores of its own uses all of them") {
  const auto all = allowed_cores();
  if (all.size() < 2) return;
  tests::run_ranks(2, [&](comm::Group& group) {
    // As taskset does, before the rank joins its job: the first core for rank 0, the rest for rank 1.
    const std::vector<int> mine =
        group.rank() == 0 ? std::vector{all.front()} : std::vector(all.begin() + 1, all.end());
    auto sharers = [](const comm::Group& group) { return group.connection()->topology().core_sharers(group.rank()); };
    CHECK(sharers(group) == comm::Sharers{2, group.rank()});
    REQUIRE(pin_to_cores(mine));
    PatchEnvironment own_cores{{"ACCELERATE_CPU_AFFINITY", "1"}, {"OMP_NUM_THREADS", std::nullopt}};
    comm::PartialState::reset();
    comm::PartialState again;
    CHECK(sharers(again.group()) == comm::Sharers{1, 0});
    CHECK(allowed_cores() == mine);
    CHECK(at::get_num_threads() == threads_per_process(1));
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
