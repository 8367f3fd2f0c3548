#include "accelerate/launch/launch.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "accelerate/base/environment.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/base/scope.h"
#include "accelerate/launch/crash_report.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::launch;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

/// A directory in which ranks leave files for the test to look at.
struct Notes {
  Notes() {
    char pattern[] = "/tmp/launch_notes_XXXXXX";
    directory = mkdtemp(pattern);
    setenv("NOTES", directory.c_str(), 1);
  }
  ~Notes() {
    unsetenv("NOTES");
    fs::remove_all(directory);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(directory / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  fs::path directory;
};

/// Runs a line of shell on `num_processes` ranks.
Outcome run(int num_processes, const std::string& script, LaunchOptions options = {}) {
  options.num_processes = num_processes;
  options.program = "/bin/sh";
  options.arguments = {"-c", script};
  JobDirectory directory(options.log_dir);
  ScopeExit tidy([&] { directory.tidy(); });
  return launch::launch(options, directory);
}

bool is_alive(const std::string& pid) { return !pid.empty() && kill(std::stoi(pid), 0) == 0; }

/// A process that was killed may stay for a moment until its parent, here init, takes note.
bool is_gone_soon(const std::string& pid) {
  for (int i = 0; i < 200 && is_alive(pid); ++i) std::this_thread::sleep_for(10ms);
  return !pid.empty() && !is_alive(pid);
}

}  // namespace

TEST_CASE("exactly as many processes start as are asked for, each with its rank") {
  for (int size : {1, 2, 5}) {
    Notes notes;
    auto outcome = run(size, "echo $WORLD_SIZE > $NOTES/$RANK");
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.message == "");
    for (int rank = 0; rank < size; ++rank) CHECK(notes.read(std::to_string(rank)) == std::to_string(size) + "\n");
    CHECK(std::distance(fs::directory_iterator(notes.directory), fs::directory_iterator()) == size);
  }
}

TEST_CASE("rank 0 inherits a socket bound to the job's port, the others none") {
  Notes notes;
  auto outcome =
      run(2, "[ -n \"$ACCELERATE_STORE_FD\" ] && readlink /proc/$$/fd/$ACCELERATE_STORE_FD > $NOTES/$RANK; true");
  CHECK(outcome.exit_code == 0);
  CHECK(notes.read("0").find("socket:") == 0);
  CHECK(notes.read("1") == "");
}

TEST_CASE("a given port is used, and a busy one refused before anything starts") {
  Notes notes;
  LoopbackPort port;
  auto number = port.number();
  port.close();
  CHECK(run(1, "echo $MASTER_PORT > $NOTES/port", {.main_process_port = number}).exit_code == 0);
  CHECK(notes.read("port") == std::to_string(number) + "\n");

  LoopbackPort busy;
  busy.listen();
  auto start = [&] { run(1, "echo started > $NOTES/started", {.main_process_port = busy.number()}); };
  CHECK_THROWS_WITH_AS(start(), doctest::Contains(std::to_string(busy.number()).c_str()), Error);
  LaunchOptions two_machines{.num_machines = 2, .main_process_ip = "127.0.0.1", .main_process_port = busy.number()};
  CHECK_THROWS_WITH_AS(run(2, "echo started > $NOTES/started", two_machines), doctest::Contains("--main_process_port"),
                       Error);
  CHECK(notes.read("started") == "");
}

TEST_CASE("the launcher's exit code is that of the rank that failed, whose peers are stopped at once") {
  Notes notes;
  auto start = Clock::now();
  auto outcome = run(3, "echo $$ > $NOTES/$RANK; [ $RANK = 1 ] && sleep 0.3 && exit 7; sleep 60 & wait");
  CHECK(Clock::now() - start < 3s);
  CHECK(outcome.exit_code == 7);
  auto pid = notes.read("1").substr(0, notes.read("1").size() - 1);
  CHECK_MESSAGE(outcome.message.find("rank 1 (pid " + pid + " on ") == 0, outcome.message);
  auto ending = ") of /bin/sh ended with exit code 7; the other ranks were stopped";
  CHECK_MESSAGE(outcome.message.find(ending) != std::string::npos, outcome.message);
  for (auto rank : {"0", "1", "2"}) CHECK_FALSE(is_alive(notes.read(rank)));
}

TEST_CASE("a crash gives 128 + its signal, and is blamed before peers that noticed it") {
  CHECK(run(2, "[ $RANK = 0 ] && kill -SEGV $$; sleep 60").exit_code == 128 + SIGSEGV);
  auto outcome = run(2, "[ $RANK = 0 ] && exit 1; sleep 0.03; kill -KILL $$");
  CHECK(outcome.exit_code == 128 + SIGKILL);
  CHECK(outcome.message.find("rank 1 ") == 0);
  CHECK(outcome.message.find("was ended by SIGKILL") != std::string::npos);
}

TEST_CASE("processes that ranks have started are stopped with them") {
  Notes notes;
  auto outcome = run(2, "sleep 60 & echo $! > $NOTES/child$RANK; [ $RANK = 1 ] && sleep 0.3 && exit 3; wait");
  CHECK(outcome.exit_code == 3);
  CHECK(is_gone_soon(notes.read("child0")));
  CHECK(is_gone_soon(notes.read("child1")));
}

TEST_CASE("a signal to the launcher is passed on to every rank, which may tidy up") {
  Notes notes;
  auto self = getpid();
  std::thread sender;
  {
    // Signals are for the main thread, which waits; this one must not take them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sender = std::thread([&] {
      while (notes.read("0").empty() || notes.read("1").empty()) std::this_thread::sleep_for(10ms);
      kill(self, SIGTERM);
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  auto outcome = run(2, "trap 'echo tidy > $NOTES/tidy$RANK; exit 0' TERM; echo $$ > $NOTES/$RANK; sleep 60 & wait");
  sender.join();
  CHECK(outcome.exit_code == 128 + SIGTERM);
  CHECK(outcome.message == "stopped by SIGTERM");
  CHECK(notes.read("tidy0") == "tidy\n");
  CHECK(notes.read("tidy1") == "tidy\n");
}

TEST_CASE("a file that is no program is refused by name when it is executed") {
  Notes notes;
  auto path = (notes.directory / "broken").string();
  std::ofstream(path) << "neither binary nor script";
  fs::permissions(path, fs::perms::owner_all);
  JobDirectory directory(notes.directory.string());
  auto start = [&] { launch::launch({.num_processes = 2, .program = path}, directory); };
  CHECK_THROWS_WITH_AS(start(), doctest::Contains((path + "' cannot be executed").c_str()), Error);
}

TEST_CASE("a job that fails is started again as often as allowed, and no oftener") {
  for (int max_restarts : {0, 1, 3}) {
    Notes notes;
    auto outcome = run(2,
                       "echo $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS >> $NOTES/$RANK; [ $RANK = 0 ] && "
                       "exit 9; sleep 60",
                       {.max_restarts = max_restarts, .monitor_interval = 1ms});
    CHECK(outcome.exit_code == 9);
    std::string expected;
    for (int i = 0; i <= max_restarts; ++i) expected += std::to_string(i) + " " + std::to_string(max_restarts) + "\n";
    CHECK(notes.read("0") == expected);
  }
}

TEST_CASE("a job that succeeds after a failure ends well") {
  Notes notes;
  auto outcome = run(2, "[ $TORCHELASTIC_RESTART_COUNT = 2 ] || exit 1", {.max_restarts = 5, .monitor_interval = 1ms});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.message == "");
}

TEST_CASE("a program that could not even start is not tried again") {
  for (auto script : {"echo x >> $NOTES/$RANK; exit 127", "echo x >> $NOTES/$RANK; exit 126"}) {
    Notes notes;
    run(1, script, {.max_restarts = 3, .monitor_interval = 1ms});
    CHECK(notes.read("0") == "x\n");
  }
}

TEST_CASE("the summary tells what a rank said last and what it reported of its crash") {
  auto outcome =
      run(2,
          "[ $RANK = 0 ] && exec sleep 60; for i in $(seq 30); do echo line $i >&2; done;"
          "printf %s '{\"message\": {\"message\": \"ValueError: no\", \"extraInfo\": {\"py_callstack\": "
          "\"Traceback:\\n  File train.py, line 3\", \"timestamp\": \"1\"}}}' > $TORCHELASTIC_ERROR_FILE; exit 5");
  CHECK(outcome.exit_code == 5);
  for (auto text : {"rank 1 ", "ValueError: no", "File train.py, line 3", "its last lines of output:", "  | line 21",
                    "  | line 30"}) {
    CHECK_MESSAGE(outcome.message.find(text) != std::string::npos, outcome.message);
  }
  CHECK(outcome.message.find("line 20\n") == std::string::npos);
}

TEST_CASE("a report in another form than torch's does not hide the failure") {
  struct Case {
    const char* report;  // for printf
    const char* told;
  };
  for (const auto& [report, told] : std::vector<Case>{
           {R"({"message": {"message": 5}})", "5"},
           {R"({"message": {"message": "no", "extraInfo": "here"}})", "no"},
           {R"({"message": {"message": "no", "extraInfo": {"py_callstack": 7}}})", "no"},
           {R"({"message": [1, 2]})", "[1,2]"},
           {R"({"message": {"message": "caf\351"}})", "caf\xEF\xBF\xBD"},
           {R"({"message": )", "ended with exit code 3"},
           {"7", "ended with exit code 3"},
       }) {
    auto outcome = run(1, std::string("printf '") + report + "' > $TORCHELASTIC_ERROR_FILE; exit 3");
    CHECK(outcome.exit_code == 3);
    CHECK_MESSAGE(outcome.message.find(told) != std::string::npos, outcome.message);
  }
}

TEST_CASE("a report names a crash in a source whose path is no UTF-8") {
  tests::TemporaryDirectory directory;
  auto tool = directory.write("addr2line", "#!/bin/sh\nprintf 'main at /users/Andr\\351/train.cpp:7\\n'\n");
  fs::permissions(tool, fs::perms::owner_all);
  PatchEnvironment found{{"PATH", directory.path().string() + ":/usr/bin:/bin"}};
  auto file = directory.write(
      "error.json", R"({"message": {"message": "no", "extraInfo": {"py_callstack": "/users/me/train(+0x12) main"}}})");
  auto report = read_crash_report(file);
  REQUIRE(report);
  CHECK(report->frames == std::vector<std::string>{"main at /users/Andr\xEF\xBF\xBD/train.cpp:7"});
  CHECK(directory.read("error.json").find("train.cpp:7") != std::string::npos);
}

TEST_CASE("a crash in a function that was inlined is told with the line of the user") {
  tests::TemporaryDirectory directory;
  auto tool = directory.write(
      "addr2line",
      "#!/bin/sh\n"
      "echo 'at::Tensor::matmul(at::Tensor const&) const at /libtorch/torch/include/ATen/core/TensorBody.h:2770'\n"
      "echo ' (inlined by) accelerate::run(at::Tensor const&) at /prefix/include/accelerate/run.h:3'\n"
      "echo ' (inlined by) forward at /users/me/train.cpp:7 (discriminator 13)'\n"
      "echo ' (inlined by) main at /users/me/train.cpp:20'\n"
      "echo '_start at ??:?'\n");
  fs::permissions(tool, fs::perms::owner_all);
  PatchEnvironment found{{"PATH", directory.path().string() + ":/usr/bin:/bin"}};
  auto file = directory.write("error.json", R"({"message": {"message": "no", "extraInfo": {"py_callstack":
      "/users/me/train(+0x12) main\n/users/me/train(+0x34) _start"}}})");
  auto report = read_crash_report(file);
  REQUIRE(report);
  CHECK(report->own_frames ==
        std::vector<std::string>{"forward at /users/me/train.cpp:7", "main at /users/me/train.cpp:20"});
  CHECK(report->frames.back() == "_start at ??:?");
}

TEST_CASE("a message of several lines stays together in the summary") {
  auto outcome = run(1, R"(printf '%s' '{"message": "do not fit:\n- a\n- b"}' > $TORCHELASTIC_ERROR_FILE; exit 1)");
  CHECK_MESSAGE(outcome.message.find("\n  do not fit:\n  - a\n  - b") != std::string::npos, outcome.message);
}

TEST_CASE("the rank that reported first is blamed, not the one with the lowest number") {
  auto outcome = run(3,
                     "[ $RANK = 2 ] || sleep 0.5; echo '{\"message\": \"x\"}' > "
                     "$TORCHELASTIC_ERROR_FILE; exit 1");
  CHECK_MESSAGE(outcome.message.find("rank 2 ") == 0, outcome.message);
}

TEST_CASE("nothing is left in the temporary directory") {
  Notes notes;
  PatchEnvironment patch{{"TMPDIR", notes.directory.string()}};
  CHECK(run(2, "[ -d $(dirname $TORCHELASTIC_ERROR_FILE) ] && echo {} > $TORCHELASTIC_ERROR_FILE").exit_code == 0);
  CHECK(fs::is_empty(notes.directory));
}
