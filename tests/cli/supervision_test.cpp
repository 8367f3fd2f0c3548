// How a job of `accelerate launch` ends, also when it is not allowed to end well.

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/cli/command_run.h"
#include "tests/support/hang_limit.h"

using namespace accelerate;
using accelerate::tests::Program;
using accelerate::tests::Run;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// How often a fault is caused: a few times, or in the full form of the tests often.
int fault_count() { return environment_variable("ACCELERATE_TEST_FULL") ? 100 : 10; }

bool is_alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string id, name, state;
  return file >> id >> name >> state && state != "Z";
}

/// The processes whose environment has `mark`: those of one job, whoever their parents are by now.
std::vector<pid_t> processes_with(const std::string& mark) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || !is_alive(std::stoi(name))) continue;
    if (tests::text_of(entry.path() / "environ").find(mark) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

std::string unique_mark() {
  static int count = 0;
  return "FAULT_TEST_MARK=" + std::to_string(getpid()) + "_" + std::to_string(++count);
}

/// A job of four ranks, each with a child, and with a grandchild that has moved to a session of its own.
constexpr auto kFamily = "sleep 60 & setsid sh -c 'sleep 60 & wait' & echo up; wait";

EnvironmentVariable as_variable(const std::string& mark) {
  return {mark.substr(0, mark.find('=')), mark.substr(mark.find('=') + 1)};
}

size_t temporary_directories(const fs::path& directory) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("Ctrl-C and other requests to stop end every rank at once") {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Program program({ACCELERATE_COMMAND, "launch", "-n", "3", "sh", "-c", "echo up $$; exec sleep 60"});
    REQUIRE(Program::wait_until([&] { return tests::count_lines(program.output()) == 3; }, 20s));
    auto start = std::chrono::steady_clock::now();
    program.send_signal(number);
    CHECK(program.wait(tests::hang_limit(10s)) == 128 + number);
    CHECK(std::chrono::steady_clock::now() - start < 5s);  // ranks have 30 s to end by themselves
    CHECK(program.errors().find("stopped by SIG") != std::string::npos);
    std::istringstream lines(program.output());
    std::string word;
    for (pid_t pid; lines >> word >> pid;) CHECK_FALSE(is_alive(pid));
  }
}

TEST_CASE("ranks have the time to end that they are given, and a second request takes it away") {
  auto stubborn = "trap '' TERM; echo up; while true; do sleep 0.1; done";
  for (bool twice : {false, true}) {
    Program program(
        {ACCELERATE_COMMAND, "launch", "-n", "2", "--shutdown_timeout", twice ? "60" : "0.5", "sh", "-c", stubborn});
    REQUIRE(Program::wait_until([&] { return tests::count_lines(program.output()) == 2; }, 20s));
    auto start = std::chrono::steady_clock::now();
    program.send_signal(SIGTERM);
    if (twice) {
      usleep(300'000);
      program.send_signal(SIGTERM);
    }
    CHECK(program.wait(tests::hang_limit(20s)) == 128 + SIGTERM);
    auto took = std::chrono::steady_clock::now() - start;
    CHECK(took > 250ms);
    CHECK(took < 5s);
  }
}

TEST_CASE("nothing of a job is alive two seconds after its launcher was killed, whenever that was") {
  std::mt19937 random(1);
  tests::TemporaryDirectory temporary;
  int started = 0;
  for (int i = 0; i < fault_count(); ++i) {
    auto mark = unique_mark();
    Program program({ACCELERATE_COMMAND, "launch", "-n", "4", "sh", "-c", kFamily},
                    {as_variable(mark), {"TMPDIR", temporary.path().string()}});
    if (i % 2 == 0) REQUIRE(Program::wait_until([&] { return tests::count_lines(program.output()) == 4; }, 20s));
    usleep(std::uniform_int_distribution<useconds_t>(0, i % 2 == 0 ? 1000 : 30'000)(random));
    started += processes_with(mark).size() > 1;
    program.send_signal(SIGKILL);
    program.wait(tests::hang_limit(10s));
    CHECK(Program::wait_until([&] { return processes_with(mark).empty(); }, 2s));
  }
  CHECK(started >= fault_count() / 2);
  CHECK(temporary_directories(temporary.path()) == 0);
}

TEST_CASE("nothing of a job is alive two seconds after its launcher was killed while it stopped the ranks") {
  std::mt19937 random(3);
  tests::TemporaryDirectory temporary;
  // Ranks that take their time to end, with the family of the others. The teardown is that of a failed rank or of a
  // request.
  auto script = std::string("[ $RANK = 0 ] && [ $FAILS = 1 ] && sleep 0.1 && exit 3; trap '' TERM; ") + kFamily +
                "; while true; do sleep 0.1; done";
  for (int i = 0; i < fault_count(); ++i) {
    auto mark = unique_mark();
    bool fails = i % 2 == 0;
    Program program({ACCELERATE_COMMAND, "launch", "-n", "4", "sh", "-c", script},
                    {as_variable(mark), {"TMPDIR", temporary.path().string()}, {"FAILS", fails ? "1" : "0"}});
    size_t lines = fails ? 3 : 4;
    REQUIRE(Program::wait_until([&] { return tests::count_lines(program.output()) == lines; }, 20s));
    if (!fails) program.send_signal(SIGTERM);
    usleep(std::uniform_int_distribution<useconds_t>(0, 300'000)(random));
    program.send_signal(SIGKILL);
    program.wait(tests::hang_limit(10s));
    CHECK(Program::wait_until([&] { return processes_with(mark).empty(); }, 2s));
  }
  CHECK(temporary_directories(temporary.path()) == 0);
}

TEST_CASE("nothing of a job is alive after the process that supervises it was killed") {
  auto mark = unique_mark();
  Program program({ACCELERATE_COMMAND, "launch", "-n", "4", "sh", "-c", kFamily}, {as_variable(mark)});
  REQUIRE(Program::wait_until([&] { return tests::count_lines(program.output()) == 4; }, 20s));
  std::ifstream children("/proc/" + std::to_string(program.pid()) + "/task/" + std::to_string(program.pid()) +
                         "/children");
  pid_t supervisor = 0;
  children >> supervisor;
  REQUIRE(supervisor > 1);
  kill(supervisor, SIGKILL);
  CHECK(program.wait(tests::hang_limit(10s)) == 137);
  CHECK(Program::wait_until([&] { return processes_with(mark).empty(); }, 2s));
}

TEST_CASE("processes that a rank left behind end with the job") {
  for (auto ending : {"exit 0", "exit 3"}) {
    auto mark = unique_mark();
    auto script = std::string("setsid sh -c 'sleep 60 & sleep 60' >/dev/null 2>&1 & sleep 0.1; ") + ending;
    Run run({"launch", "-n", "2", "sh", "-c", script}, {as_variable(mark)});
    CHECK(run.exit_code == (std::string(ending) == "exit 0" ? 0 : 3));
    CHECK(processes_with(mark).empty());
  }
}

TEST_CASE("the rank that was killed is blamed, not those that missed it") {
  std::mt19937 random(2);
  // Ranks end with an error when a peer is gone, as the ranks of a training do.
  auto script = R"(echo $$ > $NOTES/$RANK; echo up
    while [ ! -e $NOTES/3 ]; do sleep 0.005; done
    while kill -0 $(cat $NOTES/0) $(cat $NOTES/1) $(cat $NOTES/2) $(cat $NOTES/3) 2>/dev/null; do sleep 0.005; done
    echo lost a peer >&2; exit 1)";
  for (int i = 0; i < fault_count(); ++i) {
    tests::TemporaryDirectory notes;
    Program program({ACCELERATE_COMMAND, "launch", "-n", "4", "sh", "-c", script}, {{"NOTES", notes.path().string()}});
    REQUIRE(Program::wait_until([&] { return tests::count_lines(program.output()) == 4; }, 20s));
    int victim = std::uniform_int_distribution<int>(0, 3)(random);
    kill(std::stoi(tests::text_of(notes.path() / std::to_string(victim))), SIGKILL);
    CHECK(program.wait(tests::hang_limit(10s)) == 137);
    CHECK_MESSAGE(program.errors().find("accelerate launch: rank " + std::to_string(victim) + " ") != std::string::npos,
                  program.errors());
  }
}

TEST_CASE("a crash in native code is told with its place in the program") {
  struct Case {
    const char* way;
    int exit_code;
    std::vector<const char*> told;
  };
  for (const auto& [way, exit_code, told] : std::vector<Case>{
           {"segv", 139, {"Segmentation fault", "write_to_nowhere", "crashing_program.cpp:15", "main"}},
           {"first", 139, {"Segmentation fault", "write_to(", "crashing_program.cpp:19", "main"}},
           {"inline", 139, {"Segmentation fault", "crashing_program.cpp:21", "crashing_program.cpp:24", "main"}},
           {"abort", 134, {"Aborted", "crashing_program.cpp"}},
           {"throw", 1, {"no such \"value\"", "find_value", "crashing_program.cpp:33"}},
           {"much", 1, {"much \xEF\xBF\xBD\"\"", "say_much"}},
           {"overflow", 139, {"Segmentation fault", "overflow"}},
       }) {
    tests::TemporaryDirectory logs;
    auto script = std::string("[ $RANK = 1 ] && exec ") + CRASHING_PROGRAM + " " + way + "; sleep 60";
    // Sanitizers would report a crash themselves, in their own words.
    auto leave_signals = "handle_segv=0:handle_sigbus=0:handle_abort=0:use_sigaltstack=0";
    Run run({"launch", "-n", "2", "--log_dir", logs.path().string(), "sh", "-c", script},
            {{"ASAN_OPTIONS", leave_signals}, {"TSAN_OPTIONS", leave_signals}});
    CHECK(run.exit_code == exit_code);
    CHECK(run.errors.find("accelerate launch: rank 1 ") != std::string::npos);
    for (auto text : told)
      CHECK_MESSAGE(run.errors.find(text) != std::string::npos, text, " is missing in\n", run.errors);
    auto report = nlohmann::json::parse(tests::text_of(logs.path() / "latest/attempt_0/1/error.json"));
    CHECK(report.at("message").at("message").get<std::string>().find(told[0]) == 0);
    CHECK(std::stoll(report.at("message").at("extraInfo").at("timestamp").get<std::string>()) > 1'700'000'000);
    CHECK(report.at("message").at("extraInfo").at("py_callstack").get<std::string>().find("crashing_program") !=
          std::string::npos);
  }
}

TEST_CASE("a crash is told with its place however the program was found, and wherever it went") {
  fs::path program = CRASHING_PROGRAM;
  auto directory = program.parent_path().string();
  auto leave_signals = "handle_segv=0:handle_sigbus=0:handle_abort=0:use_sigaltstack=0";
  std::vector<EnvironmentVariable> environment = {{"ASAN_OPTIONS", leave_signals}, {"TSAN_OPTIONS", leave_signals}};
  auto path = environment;
  path.push_back({"PATH", directory + ":" + getenv("PATH")});
  auto told = [](const tests::Result& run) {
    INFO(run.errors);
    CHECK(run.exit_code == 139);
    CHECK(run.errors.find("write_to_nowhere") != std::string::npos);
    CHECK(run.errors.find("crashing_program.cpp:") != std::string::npos);
  };
  told(Run({"launch", "-n", "2", program.filename().string(), "segv"}, path));
  told(Run({"launch", "-n", "2", program.string(), "segv", "/"}, environment));
  auto relative = "cd " + directory + " && exec " + ACCELERATE_COMMAND + " launch -n 2 ./crashing_program segv /";
  told(tests::run({"sh", "-c", relative}, environment));
  // A program is started under the name of its source when `accelerate launch train.cpp` has compiled it.
  told(Run({"launch", "-n", "2", "bash", "-c", "exec -a train.cpp " + program.string() + " segv"}, environment));
}

TEST_CASE("standard streams that are closed are no trouble") {
  auto launch = std::string(ACCELERATE_COMMAND) + " launch -n 2 sh -c 'echo up >> $NOTES; echo printed'";
  for (auto closed : {"<&-", ">&-", "<&- >&-", "2>&-", "<&- >&- 2>&-"}) {
    tests::TemporaryDirectory directory;
    auto notes = (directory.path() / "notes").string();
    CHECK_MESSAGE(tests::run({"sh", "-c", launch + " " + closed}, {{"NOTES", notes}}).exit_code == 0, closed);
    CHECK(tests::text_of(notes) == "up\nup\n");
  }
}

TEST_CASE("a request to stop is heard while ranks are being started") {
  // So many that to start them takes a while; each of them is cheap.
  Program program({ACCELERATE_COMMAND, "launch", "-n", "400", "sh", "-c", "echo up; exec sleep 60"});
  usleep(50'000);
  program.send_signal(SIGTERM);
  CHECK(program.wait(tests::hang_limit(20s)) == 128 + SIGTERM);
  CHECK(tests::count_lines(program.output()) < 400);
}

TEST_CASE("a job leaves no temporary files, however it ends") {
  tests::TemporaryDirectory temporary;
  std::vector<EnvironmentVariable> environment = {{"TMPDIR", temporary.path().string()}};
  for (auto script : {"exit 0", "exit 3", "kill -SEGV $$"}) {
    Run({"launch", "-n", "2", "sh", "-c", script}, environment);
    CHECK(temporary_directories(temporary.path()) == 0);
  }
}

TEST_CASE("ranks keep ignoring what their launcher was told to ignore") {
  Program program(
      {"sh", "-c", std::string("trap '' HUP; exec ") + ACCELERATE_COMMAND + " launch -n 2 sh -c 'echo up; sleep 1'"});
  REQUIRE(Program::wait_until([&] { return tests::count_lines(program.output()) == 2; }, 20s));
  program.send_signal(SIGHUP);
  CHECK(program.wait(tests::hang_limit(20s)) == 0);
}
