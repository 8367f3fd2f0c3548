// A disk that is full for one rank: all of them hear of it, at once and in the same words, and the last checkpoint
// stays.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>

#include "accelerate/base/error.h"
#include "tests/checkpoint/counting_job.h"
#include "tests/support/failure_of.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {
namespace {

/// The most bytes that a file of this process may have.
void limit_file_size(rlim_t bytes) {
  rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

}  // namespace

TEST_CASE("when one rank cannot write, all throw the same error within seconds, and the last checkpoint loads") {
  for (const auto& mode : {SaveMode{.name = "automatic naming"}, SaveMode{.name = "overwriting", .numbered = false}}) {
    for (int victim : {0, 2}) {
      CAPTURE(mode.name);
      TemporaryDirectory home;
      run_ranks(4, [&](comm::Group& group) {
        CountingJob job(mode, home.path());
        job.advance();
        job.save();
        job.advance();
        if (group.rank() == victim) limit_file_size(1000);
        auto begin = std::chrono::steady_clock::now();
        auto message = failure_of([&] { job.save(); });
        auto took = std::chrono::steady_clock::now() - begin;
        limit_file_size(RLIM_INFINITY);
        CHECK(took < std::chrono::seconds(5));
        CHECK_MESSAGE(message.find("File too large; the limit on the size of a file is too low") != std::string::npos,
                      message);
        CHECK_MESSAGE(message.find(home.path()) != std::string::npos, message);
        for (const auto& other : group.all_gather_bytes(message)) CHECK(other == message);
        job.load();
        CHECK(job.step() == 1);
        job.advance();
        job.save();
      });
    }
  }
}

}  // namespace accelerate::tests
