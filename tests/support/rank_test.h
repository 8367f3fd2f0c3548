#pragma once

// Tests on several ranks. Checks inside of a rank count: doctest prints them there, the rank then fails, and so does
// the test that started it.
//
//   TEST_CASE("every rank knows its place") {
//     accelerate::tests::run_ranks(2, [](comm::Group& group) { CHECK(group.rank() < 2); });
//   }

#include <doctest/doctest.h>

#include <functional>

#include "accelerate/base/error.h"
#include "accelerate/ranks/run_ranks.h"
#include "tests/support/failed_checks.h"

namespace accelerate::tests {

/// ranks::run_ranks, with failed checks of a rank as its failure.
inline void run_ranks(int num_processes, const std::function<void(comm::Group&)>& body,
                      const ranks::RunRanksOptions& options = {}) {
  auto checked = [&](comm::Group& group) {
    int before = failed_checks();
    try {
      body(group);
    } catch (const doctest::detail::TestFailureException&) {
      // A REQUIRE failed; it is counted like the others.
    }
    int failed = failed_checks() - before;
    if (failed > 0) fail(failed, failed == 1 ? " check" : " checks", " failed in this rank, printed above");
  };
  ranks::run_ranks(num_processes, checked, options);
}

}  // namespace accelerate::tests
