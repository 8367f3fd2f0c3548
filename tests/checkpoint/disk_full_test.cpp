// A disk that is full or fails for one rank, or for all: all of them hear of it, at once and in the same words, and the
// last checkpoint stays.

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "accelerate/base/error.h"
#include "tests/checkpoint/counting_job.h"
#include "tests/support/failing_calls.h"
#include "tests/support/failure_of.h"
#include "tests/support/program.h"
#include "tests/support/rank_test.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {
namespace {

const std::vector<SaveMode> kModes = {{.name = "automatic naming"},
                                      {.name = "overwriting", .numbered = false},
                                      {.name = "total_limit = 1, in the background", .total_limit = 1, .async = true},
                                      {.name = "overwriting in the background", .numbered = false, .async = true}};

bool is_full_test() { return std::getenv("ACCELERATE_TEST_FULL") != nullptr; }

/// The most bytes that a file of this process may have.
void limit_file_size(rlim_t bytes) {
  rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/// Saves, also to the end of what goes on in the background, and returns the error, which comes soon and is the same on
/// all ranks; empty when there is none.
std::string failure_of_save(CountingJob& job, comm::Group& group) {
  const auto begin = std::chrono::steady_clock::now();
  const auto message = failure_of([&] {
    job.save();
    job.wait();
  });
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  for (const auto& other : group.all_gather_bytes(message)) CHECK(other == message);
  return message;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Saves again and again while some call to the disk fails on some rank, and loads what is left.
void survive_faults(const SaveMode& mode, int num_faults, const std::filesystem::path& home, comm::Group& group) {
  std::mt19937 random(8);  // the same on all ranks
  CountingJob job(mode, home);
  int64_t saved = 0, num_errors = 0;
  std::vector<std::string> calls;  // of a save, on each rank
  for (int i = -1; i < num_faults; ++i) {
    const auto victim = random() % 4, chance = random();
    const int error = random() % 2 == 0 ? ENOSPC : EIO;
    const int call = i < 0 ? 0 : 1 + static_cast<int>(chance % std::stoul(calls[victim]));
    CAPTURE(victim);
    CAPTURE(call);
    job.advance();
    const auto fresh = job.step();
    fail_call(static_cast<size_t>(group.rank()) == victim ? call : 0, error);
    const auto message = failure_of_save(job, group);
    if (i < 0) calls = group.all_gather_bytes(std::to_string(calls_so_far()));
    fail_call(0, 0);
    if (!message.empty()) {
      ++num_errors;
      CHECK_MESSAGE(contains(message, std::strerror(error)), message);
      CHECK_MESSAGE(contains(message, home), message);
    }
    job.load();
    // A failure after the new one has got its name is told too.
    CHECK((job.step() == fresh || (job.step() == saved && !message.empty())));
    saved = job.step();
  }
  CHECK(num_errors > 0);
  if (group.rank() == 0) MESSAGE(mode.name, ": ", num_faults, " faults, of which ", num_errors, " ended a save");
}

}  // namespace

TEST_CASE("when one rank cannot write, all throw the same error within seconds, and the last checkpoint loads") {
  for (const auto& mode : kModes) {
    for (int victim : {0, 2}) {
      CAPTURE(mode.name);
      TemporaryDirectory home;
      run_ranks(4, [&](comm::Group& group) {
        CountingJob job(mode, home.path());
        job.advance();
        CHECK(failure_of_save(job, group).empty());
        job.advance();
        if (group.rank() == victim) limit_file_size(1000);
        const auto message = failure_of_save(job, group);
        limit_file_size(RLIM_INFINITY);
        CHECK_MESSAGE(contains(message, "File too large; the limit on file sizes is too low"), message);
        CHECK_MESSAGE(contains(message, home.path()), message);
        job.load();
        CHECK(job.step() == 1);
        job.advance();
        CHECK(failure_of_save(job, group).empty());
      });
    }
  }
}

TEST_CASE("whichever call of a save fails on whichever of four ranks, all say so and a whole checkpoint is left") {
  const int num_faults = is_full_test() ? 200 : 8;
  for (const auto& mode : kModes) {
    CAPTURE(mode.name);
    TemporaryDirectory home;
    const auto body = [&](comm::Group& group) { survive_faults(mode, num_faults, home.path(), group); };
    run_ranks(4, body, {.timeout = std::chrono::minutes(15)});
  }
}

TEST_CASE("on a disk that is too small for a second checkpoint of four ranks the first one stays, whatever the size") {
  Program program(on_small_disk(100, THIS_PROGRAM " --no-skip -tc='four ranks on disks below /mnt'"));
  CHECK_MESSAGE(program.wait() == 0, "this test needs a private tmpfs: " << program.output() << program.errors());
  MESSAGE(program.output());
}

TEST_CASE("four ranks on disks below /mnt" * doctest::skip()) {
  const int one = 900, step = is_full_test() ? 50 : 250;  // kilobytes of a checkpoint with its directories
  for (const auto& mode : kModes) {
    CAPTURE(mode.name);
    int disks = 0, full = 0;
    for (int kilobytes = one; kilobytes < 2 * one + 2 * step; kilobytes += step, ++disks) {
      CAPTURE(kilobytes);
      const auto disk = "/mnt/" + std::to_string(kilobytes);
      std::filesystem::create_directory(disk);
      const auto size = "size=" + std::to_string(kilobytes) + "k";
      REQUIRE(mount("none", disk.c_str(), "tmpfs", 0, size.c_str()) == 0);
      run_ranks(4, [&](comm::Group& group) {
        CountingJob job(mode, disk);
        job.advance();
        CHECK(failure_of_save(job, group) == "");
        job.advance();
        const auto message = failure_of_save(job, group);
        if (!message.empty()) {
          CHECK_MESSAGE(contains(message, "No space left on device"), message);
          CHECK_MESSAGE(contains(message, "make room"), message);
          if (group.rank() == 0) std::filesystem::create_directory("/mnt/full");
        }
        job.load();
        CHECK(job.step() == (message.empty() ? 2 : 1));
      });
      full += std::filesystem::remove("/mnt/full");
      REQUIRE(umount(disk.c_str()) == 0);
    }
    CHECK(full > 0);
    CHECK(full < disks);
    MESSAGE(mode.name, ": ", disks, " disks, of which ", full, " were full; the first checkpoint was left on each");
  }
}

}  // namespace accelerate::tests
