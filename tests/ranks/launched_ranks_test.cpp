// Ranks that `accelerate launch` starts. The program is this test binary itself, asked for the one test that is a rank.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "accelerate/comm/partial_state.h"
#include "tests/support/program.h"
#include "tests/support/torch.h"

using namespace accelerate;
using accelerate::tests::Program;

namespace {

struct Finished {
  int exit_code;
  std::string text;
};

Finished launch_self(int num_processes, const std::string& test_case) {
  Program program({ACCELERATE_COMMAND, "launch", "--cpu", "-n", std::to_string(num_processes),
                   std::filesystem::read_symlink("/proc/self/exe").string(), "--no-skip", "--test-case=" + test_case});
  int exit_code = program.wait();
  return {exit_code, program.output() + program.errors()};
}

}  // namespace

TEST_CASE("launched rank gathers" * doctest::skip()) {
  PartialState state;
  auto ranks = state.group().all_gather(torch::tensor({state.process_index()}));
  CHECK(torch::equal(ranks, torch::arange(state.num_processes())));
  CHECK(state.local_process_index() == state.process_index());
  CHECK(state.num_processes() == environment_integer({"WORLD_SIZE"}));
  state.wait_for_everyone();
}

TEST_CASE("launched rank fails" * doctest::skip()) {
  PartialState state;
  REQUIRE(state.process_index() != 1);
  state.wait_for_everyone();
}

TEST_CASE("ranks of the launcher find each other") {
  for (int size : {1, 2, 3}) {
    auto [exit_code, text] = launch_self(size, "launched rank gathers");
    CHECK_MESSAGE(exit_code == 0, text);
    size_t passed = 0;
    for (size_t at = 0; (at = text.find("1 passed", at)) != std::string::npos; ++at) ++passed;
    CHECK_MESSAGE(passed == size, text);
  }
}

TEST_CASE("a launched rank that fails ends one that waits for it in a collective") {
  auto [exit_code, text] = launch_self(2, "launched rank fails");
  CHECK(exit_code == 1);
  CHECK_MESSAGE(text.find("accelerate launch: rank 1 (pid ") != std::string::npos, text);
}
