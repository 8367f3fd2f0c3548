// Jobs that are asked to make room. The program that `accelerate launch` starts is this test binary itself, asked for
// the one test that is a rank.

#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>
#include <iostream>
#include <regex>

#include "accelerate/accelerator.h"
#include "accelerate/ranks/launchers.h"
#include "tests/support/hang_limit.h"
#include "tests/support/program.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;
using accelerate::tests::Program;
using namespace std::chrono_literals;

namespace {

/// Steps until the job is preempted or the end of a training that would take too long.
int64_t steps_until_preempted(Accelerator& accelerator, const std::function<void(int64_t step)>& in_step) {
  int64_t step = 0;
  while (step < 1'000'000 && !accelerator.preemption_requested()) in_step(++step);
  return step;
}

Program launch_training() {
  return Program({ACCELERATE_COMMAND, "launch", "--cpu", "-n", "2",
                  std::filesystem::read_symlink("/proc/self/exe").string(), "--no-skip",
                  "--test-case=launched rank trains until it is preempted"});
}

/// The numbers that ranks have printed behind `words`.
std::vector<int64_t> numbers_behind(const std::string& words, const std::string& output) {
  const std::regex line(words + " (\\d+)");
  std::vector<int64_t> numbers;
  for (std::sregex_iterator match(output.begin(), output.end(), line), end; match != end; ++match) {
    numbers.push_back(std::stoll((*match)[1]));
  }
  return numbers;
}

bool trains_on_two_ranks(const Program& job) {
  return Program::wait_until([&] { return numbers_behind("has begun step", job.output()).size() == 2; }, 60s);
}

}  // namespace

TEST_CASE("a request to one rank is true on all of them at the same step, and stays") {
  tests::run_ranks(4, [](comm::Group& group) {
    Accelerator accelerator;
    CHECK_FALSE(accelerator.preemption_requested());
    auto steps = steps_until_preempted(accelerator, [&](int64_t step) {
      if (group.rank() == 2 && step == 5) raise(SIGUSR1);
    });
    auto all = accelerator.gather(torch::tensor({steps}));
    CHECK(torch::equal(all, torch::full({4}, 5, torch::kLong)));
    CHECK(accelerator.preemption_requested());
  });
}

TEST_CASE("one process is preempted too, by SIGTERM and by SIGUSR1") {
  PartialState::reset();
  for (int number : {SIGTERM, SIGUSR1}) {
    notebook_launcher(
        [](int number) {
          Accelerator accelerator;
          auto steps = steps_until_preempted(accelerator, [&](int64_t step) {
            if (step == 3) raise(number);
          });
          if (steps != 3) fail("left after step ", steps);
        },
        {.num_processes = 1}, number);
  }
}

TEST_CASE("a handler that the program has set itself stays") {
  PartialState::reset();
  notebook_launcher(
      [] {
        static volatile sig_atomic_t caught = 0;
        signal(SIGTERM, [](int) { caught = 1; });
        Accelerator accelerator;
        if (accelerator.preemption_requested()) fail("preempted");
        raise(SIGTERM);
        if (caught != 1 || accelerator.preemption_requested()) fail("the handler was replaced");
      },
      {.num_processes = 1});
}

TEST_CASE("the precision that notebook_launcher is given is that of the ranks' Accelerators") {
  PartialState::reset();
  auto precisions = notebook_launcher([] { return std::string(to_string(Accelerator().mixed_precision())); },
                                      {.num_processes = 2, .mixed_precision = MixedPrecision::Bf16});
  CHECK(precisions == std::vector<std::string>{"bf16", "bf16"});
}

TEST_CASE("launched rank trains until it is preempted" * doctest::skip()) {
  signal(SIGTERM, SIG_DFL);  // doctest has a handler for it
  Accelerator accelerator;
  auto steps = steps_until_preempted(accelerator, [&](int64_t step) {
    if (step == 1) std::cout << "has begun step 1\n" << std::flush;
  });
  std::cout << "left after step " << steps << "\n" << std::flush;
  accelerator.wait_for_everyone();
}

TEST_CASE("a job whose launcher gets SIGTERM ends at one step, within the grace, with exit code 143") {
  auto job = launch_training();
  REQUIRE(trains_on_two_ranks(job));
  job.send_signal(SIGTERM);
  CHECK(job.wait(tests::hang_limit(20s)) == 128 + SIGTERM);
  auto steps = numbers_behind("left after step", job.output());
  REQUIRE_MESSAGE(steps.size() == 2, job.output(), job.errors());
  CHECK(steps[0] == steps[1]);
  CHECK(steps[0] > 0);
  CHECK(steps[0] < 1'000'000);
}

TEST_CASE("SIGUSR1 to the launcher reaches the ranks, which end by themselves with exit code 0") {
  auto job = launch_training();
  REQUIRE(trains_on_two_ranks(job));
  job.send_signal(SIGUSR1);
  CHECK(job.wait(tests::hang_limit(20s)) == 0);
  auto steps = numbers_behind("left after step", job.output());
  REQUIRE_MESSAGE(steps.size() == 2, job.output(), job.errors());
  CHECK(steps[0] == steps[1]);
}
