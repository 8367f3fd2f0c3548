// Ranks of one machine that cannot share its memory.

#include <doctest/doctest.h>

#include <algorithm>

#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/limit_resource.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::comm;

namespace {

constexpr size_t kSpareAddresses = size_t{1} << 30;  // enough to work with, too few for the memory of a rank

/// Joins the job again, by TCP, and returns what this rank wrote meanwhile.
std::string join_by_tcp() {
  PartialState::reset();
  return tests::captured_stderr([] {
    PartialState state;
    CHECK(state.backend() == "gloo");
    CHECK(gather(torch::full({1}, state.process_index()), state.group()).sum().item<int64_t>() == 1);
  });
}

}  // namespace

TEST_CASE("where one rank has no shared memory all talk over TCP, one line says why, and to insist on it is an error") {
  for (int poor : {0, 1}) {
    tests::run_ranks(2, [&](Group& everyone) {
      if (everyone.rank() == poor) tests::limit_resource(RLIMIT_AS, tests::used_addresses() + kSpareAddresses);
      const auto reason = "rank " + std::to_string(poor) + ": shared memory of ";
      const auto text = join_by_tcp();
      const int expected_lines = everyone.rank() == 0 ? 1 : 0;
      CHECK_MESSAGE(std::count(text.begin(), text.end(), '\n') == expected_lines, text);
      const auto line = "the ranks talk over TCP, because they have no shared memory: " + reason;
      CHECK_MESSAGE((everyone.rank() > 0 || text.find(line) != std::string::npos), text);
      PartialState::reset();
      const auto insisting = "shared memory is requested (shm), but " + reason;
      CHECK_THROWS_WITH_AS(PartialState({.backend = "shm"}), doctest::Contains(insisting.c_str()), Error);
      everyone.barrier();
    });
  }
}
