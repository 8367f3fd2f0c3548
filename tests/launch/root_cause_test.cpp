#include "accelerate/launch/root_cause.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

using namespace accelerate::launch;

namespace {

constexpr int kExit1 = W_EXITCODE(1, 0);

auto at(int seconds) { return std::filesystem::file_time_type(std::chrono::seconds(seconds)); }

}  // namespace

TEST_CASE("the failure that came first is to blame") {
  struct Case {
    std::vector<Failure> failures;
    size_t first;
  };
  for (const auto& [failures, first] : std::vector<Case>{
           {{{kExit1, 0}}, 0},
           {{{kExit1, 1}, {kExit1, 0}}, 1},                             // by the order of their ends
           {{{kExit1, 0}, {SIGKILL, 1}}, 1},                            // a killed rank cannot complain
           {{{kExit1, 0, at(5)}, {SIGKILL, 1}}, 1},                     // and its peers do
           {{{kExit1, 0, at(5)}, {SIGSEGV, 1, at(4)}}, 1},              // a crash that was reported
           {{{SIGABRT, 0, at(5)}, {kExit1, 1, at(4)}}, 1},              // an abort because of a lost peer
           {{{kExit1, 0, at(3)}, {kExit1, 1, at(3)}}, 0},               // at the same moment
           {{{kExit1, 0}, {kExit1, 2, at(9)}, {kExit1, 1, at(8)}}, 2},  // who reports knows more
           {{{SIGKILL, 1}, {SIGKILL, 0}, {kExit1, 2}}, 1},
       }) {
    CHECK(root_cause(failures) == first);
  }
}
