// Which cores the ranks of a machine run on.

#include <set>

#include <doctest/doctest.h>

#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/comm/partial_state.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;

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
