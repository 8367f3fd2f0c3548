// A job of `accelerate launch` on a terminal: what is typed reaches it, and the keys that stop and halt it do.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/cli/command_run.h"
#include "tests/cli/terminal.h"

using namespace accelerate;
using accelerate::tests::Program;
using accelerate::tests::TemporaryDirectory;
using accelerate::tests::Terminal;
using namespace std::chrono_literals;

namespace {

/// A line of shell as ranks of a job, for a shell to start. The line must not contain single quotes.
std::string launched(const std::string& flags, const std::string& script) {
  return std::string("HF_HOME=/nowhere ") + ACCELERATE_COMMAND + " launch " + flags + " sh -c '" + script + "'";
}

size_t times_shown(Terminal& terminal, const std::string& text) {
  auto screen = terminal.screen();
  size_t count = 0;
  for (auto at = screen.find(text); at != std::string::npos; at = screen.find(text, at + 1)) ++count;
  return count;
}

/// The kernel's letter for what the process does: T when it is stopped.
char state_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string id, name;
  char state = 0;
  file >> id >> name >> state;
  return state;
}

}  // namespace

TEST_CASE("a lone rank reads what is typed") {
  TemporaryDirectory directory;
  Terminal terminal(directory.path(), launched("", "echo ready; read line; echo got $line"));
  REQUIRE_MESSAGE(terminal.shows("ready"), terminal.screen());
  terminal.press({"hello", "Enter"});
  CHECK_MESSAGE(terminal.shows("got hello"), terminal.screen());
  CHECK_MESSAGE(terminal.shows("ended with 0"), terminal.screen());
}

TEST_CASE("several ranks have no input from a terminal, and do not wait for it") {
  TemporaryDirectory directory;
  Terminal terminal(directory.path(), launched("-n 2", "read line || echo rank $RANK reads nothing"));
  CHECK_MESSAGE(terminal.shows("ended with 0"), terminal.screen());
  CHECK(terminal.shows("rank 0 reads nothing"));
  CHECK(terminal.shows("rank 1 reads nothing"));
}

TEST_CASE("Ctrl-C reaches a rank on a terminal once and stops the job, however the rank takes it") {
  for (auto processes : {"-n 1", "-n 2"}) {
    for (auto taking : {"", "trap \"exit 3\" INT;", "trap \"echo caught; exit 3\" INT;"}) {
      TemporaryDirectory directory;
      auto script = std::string(taking) + "echo up; while true; do sleep 0.05; done";
      Terminal terminal(directory.path(), launched(std::string("--max_restarts 2 ") + processes, script));
      REQUIRE_MESSAGE(terminal.shows("up"), terminal.screen());
      terminal.press({"C-c"});
      CHECK_MESSAGE(terminal.shows("ended with 130"), terminal.screen());
      CHECK_MESSAGE(terminal.shows("stopped by SIGINT"), terminal.screen());
      CHECK(times_shown(terminal, "accelerate launch: restart") == 0);
    }
  }
  TemporaryDirectory directory;
  Terminal terminal(directory.path(),
                    launched("", "trap \"echo caught\" INT; echo up; for i in 1 2 3 4 5 6; do sleep 0.1; done"));
  REQUIRE(terminal.shows("up"));
  terminal.press({"C-c"});
  CHECK_MESSAGE(terminal.shows("ended with"), terminal.screen());
  CHECK(times_shown(terminal, "caught") == 1);
}

TEST_CASE("a second Ctrl-C ends a lone rank that does not listen") {
  TemporaryDirectory directory;
  Terminal terminal(directory.path(), launched("", "trap \"\" INT; echo up; while true; do sleep 0.05; done"));
  REQUIRE(terminal.shows("up"));
  terminal.press({"C-c"});
  std::this_thread::sleep_for(300ms);
  CHECK(times_shown(terminal, "ended with") == 0);
  terminal.press({"C-c"});
  CHECK_MESSAGE(terminal.shows("ended with 130"), terminal.screen());
}

TEST_CASE("Ctrl-Z halts every rank, and fg lets them go on") {
  for (auto processes : {"-n 1", "-n 2"}) {
    TemporaryDirectory directory;
    Terminal terminal(directory.path(), "bash --norc --noprofile -i");
    auto notes = directory.path().string();
    auto ranks = processes == std::string("-n 1") ? std::vector{"0"} : std::vector{"0", "1"};
    for (std::string rank : ranks) REQUIRE(mkfifo((directory.path() / ("end" + rank)).c_str(), 0600) == 0);
    // Without processes of its own: a shell that has vforked one is not stopped before that has called exec.
    terminal.press(
        {launched(processes, "echo $$ > " + notes + "/$RANK; read line <> " + notes + "/end$RANK; echo went on"),
         "Enter"});
    auto all_are = [&](bool stopped) {
      return Program::wait_until(
          [&] {
            return std::all_of(ranks.begin(), ranks.end(), [&](const char* rank) {
              auto pid = directory.read(rank);
              return !pid.empty() && (state_of(pid.substr(0, pid.size() - 1)) == 'T') == stopped;
            });
          },
          20s);
    };
    REQUIRE_MESSAGE(all_are(false), terminal.screen());
    terminal.press({"C-z"});
    CHECK_MESSAGE(terminal.shows("Stopped"), terminal.screen());
    CHECK_MESSAGE(all_are(true), terminal.screen());
    terminal.press({"fg", "Enter"});
    CHECK_MESSAGE(all_are(false), terminal.screen());
    for (std::string rank : ranks) directory.write("end" + rank, "\n");
    CHECK_MESSAGE(terminal.shows("went on"), terminal.screen());
    terminal.press({"exit $?", "Enter"});
    CHECK_MESSAGE(terminal.shows("ended with 0"), terminal.screen());
  }
}
