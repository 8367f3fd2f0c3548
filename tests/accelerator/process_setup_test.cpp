#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/program.h"

using namespace accelerate;

namespace {

using State = std::map<std::string, std::string>;

/// What process_state.cpp prints, by the word before the colon.
State state_of(const std::string& program, const std::string& mode = "",
               const std::vector<EnvironmentVariable>& environment = {}) {
  tests::Program run({program, mode}, environment);
  REQUIRE_MESSAGE(run.wait() == 0, run.errors());
  State state;
  std::istringstream lines(run.output());
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    state[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return state;
}

/// The lines in which two states differ, for a readable failure. Empty if they are equal.
std::string differences(const State& state, const State& expected) {
  std::string lines;
  for (const auto& [what, value] : state) {
    if (value != expected.at(what)) lines += what + ": " + value + ", expected " + expected.at(what) + "\n";
  }
  return lines;
}

bool is_ours(const std::string& kernel) { return kernel.find("random_masks.cpp") != std::string::npos; }

constexpr const char* kBare = BARE_PROGRAM;
constexpr const char* kLinked = LINKED_PROGRAM;
const std::vector<std::string> kCrashes = {"SEGV", "BUS", "ILL", "FPE", "ABRT"};

}  // namespace

TEST_CASE("a program that links both libraries starts as one that links libtorch alone") {
  CHECK(differences(state_of(kLinked), state_of(kBare)) == "");
}

TEST_CASE("the first PartialState sets the process up") {
  const auto state = state_of(kLinked, "joined", {{"TORCHELASTIC_ERROR_FILE", "/tmp/process_setup_error.json"}});
  const auto bare = state_of(kBare);
  CHECK(state.at("allocator") == "another");
  CHECK(is_ours(state.at("mask kernel")));
  CHECK(state.at("block of 20 MiB") == "the heap");
  CHECK(state.at("terminate handler") == "another");
  CHECK(state.at("XFSZ") == "ignored");
  for (const auto& crash : kCrashes) CHECK(state.at(crash) == "handled");
  CHECK(state.at("mask") == bare.at("mask"));
  // These are for ranks that talk to others.
  for (const char* other : {"PIPE", "USR2", "DDP_DISABLE_COMM_MEM", "threads"})
    CHECK(state.at(other) == bare.at(other));
}

TEST_CASE("one of several ranks reports lost peers and on SIGUSR2, and shares the memory of buckets") {
  const auto state = state_of(kLinked, "ranks");
  CHECK(state.at("PIPE") == "ignored");
  CHECK(state.at("USR2") == "handled");
  CHECK(state.at("DDP_DISABLE_COMM_MEM") == "0");
  CHECK(state.at("mask") == state_of(kBare).at("mask"));
}

TEST_CASE("a program can opt out of each change by an environment variable") {
  struct OptOut {
    EnvironmentVariable variable;
    std::vector<std::string> untouched;
  };
  const auto bare = state_of(kBare);
  const std::vector<EnvironmentVariable> launched = {{"TORCHELASTIC_ERROR_FILE", "/tmp/process_setup_error.json"}};
  const auto joined = state_of(kLinked, "joined", launched);
  const std::vector<OptOut> opt_outs = {{{"ACCELERATE_TENSOR_MEMORY", "system"}, {"allocator", "block of 20 MiB"}},
                                        {{"ACCELERATE_SETUP_MALLOC", "0"}, {"block of 20 MiB"}},
                                        {{"ACCELERATE_SETUP_MASKS", "0"}, {"mask kernel"}},
                                        {{"ACCELERATE_SETUP_TERMINATE", "0"}, {"terminate handler"}},
                                        {{"ACCELERATE_SETUP_CRASHES", "0"}, kCrashes},
                                        {{"ACCELERATE_SETUP_SIGXFSZ", "0"}, {"XFSZ"}}};
  for (const auto& [variable, untouched] : opt_outs) {
    CAPTURE(variable.name);
    auto expected = joined;
    for (const auto& what : untouched) expected[what] = bare.at(what);
    expected["variables"] = std::to_string(std::stoi(joined.at("variables")) + 1);
    CHECK(differences(state_of(kLinked, "joined", {launched[0], variable}), expected) == "");
  }
}

TEST_CASE("a rank can opt out of the changes that talking to others needs") {
  const auto bare = state_of(kBare);
  const auto state = state_of(kLinked, "ranks",
                              {{"ACCELERATE_SETUP_SIGPIPE", "0"},
                               {"ACCELERATE_SETUP_SIGUSR2", "0"},
                               {"ACCELERATE_SETUP_PTRACER", "0"},
                               {"DDP_DISABLE_COMM_MEM", "1"}});
  CHECK(state.at("PIPE") == "default");
  CHECK(state.at("USR2") == "default");
  CHECK(state.at("DDP_DISABLE_COMM_MEM") == "1");
}

TEST_CASE("an opt-out that is neither true nor false is an error that names the variable") {
  tests::Program run({kLinked, "joined"}, {{"ACCELERATE_SETUP_MASKS", "perhaps"}});
  CHECK(run.wait() == 1);
  CHECK_MESSAGE(run.errors().find("ACCELERATE_SETUP_MASKS") != std::string::npos, run.errors());
}
