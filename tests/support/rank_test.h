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
#include "tests/support/hang_limit.h"

namespace accelerate::tests {

/// Runs what one rank does, with its failed checks as its failure.
inline void run_rank(const std::function<void()>& body) {
  int before = failed_checks();
  try {
    body();
  } catch (const doctest::detail::TestFailureException&) {
    // A REQUIRE failed; it is counted like the others.
  }
  int failed = failed_checks() - before;
  if (failed > 0) fail(failed, failed == 1 ? " check" : " checks", " failed in this rank, printed above");
}

/// ranks::run_ranks, with failed checks of a rank as its failure. The limit only guards against hangs, so it is
/// generous enough for a machine that is busy with other programs.
inline void run_ranks(int num_processes, const std::function<void(comm::Group&)>& body,
                      const ranks::RunRanksOptions& options = {.timeout = hang_limit(std::chrono::minutes(5))}) {
  ranks::run_ranks(num_processes, [&](comm::Group& group) { run_rank([&] { body(group); }); }, options);
}

}  // namespace accelerate::tests
