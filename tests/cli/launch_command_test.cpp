// The command `accelerate` as a user runs it.

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "accelerate/base/scope.h"
#include "accelerate/base/version.h"
#include "tests/support/program.h"

using namespace accelerate;
using accelerate::tests::Program;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// `accelerate` with these words, run to its end.
struct Run {
  explicit Run(std::vector<std::string> words, const std::vector<EnvironmentVariable>& environment = {}) {
    words.insert(words.begin(), ACCELERATE_COMMAND);
    Program program(words, environment);
    exit_code = program.wait(120s);
    output = program.output();
    errors = program.errors();
  }
  int exit_code;
  std::string output;
  std::string errors;
};

size_t count_lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

bool is_alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string id, name, state;
  return file >> id >> name >> state && state != "Z";
}

}  // namespace

TEST_CASE("help and version are printed, and without a command help goes to standard error") {
  CHECK(Run({"--version"}).output == std::string("accelerate ") + kVersion + "\n");
  auto help = Run({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.output.find("launch") != std::string::npos);
  auto nothing = Run({});
  CHECK(nothing.exit_code == 1);
  CHECK(nothing.errors == help.output);
  auto launch_help = Run({"launch", "--help"});
  CHECK(launch_help.exit_code == 0);
  for (auto flag : {"--num_processes", "--num_machines", "--machine_rank", "--main_process_ip", "--main_process_port",
                    "--mixed_precision", "--cpu", "--debug", "--num_cpu_threads_per_process"}) {
    CHECK_MESSAGE(launch_help.output.find(flag) != std::string::npos, flag);
  }
}

TEST_CASE("a command line that cannot be understood gives exit code 2 and one line") {
  struct Case {
    std::vector<std::string> words;
    const char* message;
  };
  for (const auto& [words, message] : std::vector<Case>{
           {{"lanch"}, "did you mean launch?"},
           {{"launch"}, "no program to run"},
           {{"launch", "--num_proceses", "2", "ls"}, "did you mean --num_processes?"},
           {{"launch", "--num_processes", "two", "ls"}, "--num_processes"},
           {{"launch", "--num_processes", "0", "ls"}, "--num_processes is 0"},
           {{"launch", "-n", "-3", "ls"}, "--num_processes is -3"},
           {{"launch", "--mixed_precision", "fp17", "ls"}, "fp17"},
           {{"launch", "--num_machines", "2", "-n", "2", "ls"}, "--main_process_ip"},
       }) {
    Run run(words);
    CHECK(run.exit_code == 2);
    CHECK(run.output == "");
    CHECK(count_lines(run.errors) == 1);
    CHECK_MESSAGE(run.errors.find(message) != std::string::npos, run.errors);
  }
}

TEST_CASE("a program that is missing gives 127, one that is not executable 126") {
  auto missing = Run({"launch", "-n", "2", "./no_such_program"});
  CHECK(missing.exit_code == 127);
  CHECK(missing.errors.find("accelerate launch: './no_such_program' does not exist") == 0);
  CHECK(Run({"launch", "-n", "2", "/etc/hostname"}).exit_code == 126);
}

TEST_CASE("everything after the program belongs to it") {
  auto run =
      Run({"launch", "--num-processes", "2", "sh", "-c", "echo \"$0 $*\"", "--num_processes", "9", "--help", "a b"});
  CHECK(run.exit_code == 0);
  CHECK(run.output == "--num_processes 9 --help a b\n--num_processes 9 --help a b\n");
}

TEST_CASE("flags reach the ranks through their environment") {
  std::string show =
      "echo $RANK $WORLD_SIZE $ACCELERATE_MIXED_PRECISION $ACCELERATE_DEBUG_MODE $ACCELERATE_USE_CPU "
      "$OMP_NUM_THREADS $GROUP_RANK $MASTER_ADDR $MASTER_PORT";
  auto one = Run({"launch", "--cpu", "--debug", "--mixed_precision", "bf16", "--num_cpu_threads_per_process", "3", "-n",
                  "1", "--main_process_port", "0", "sh", "-c", show});
  CHECK_MESSAGE(one.output.find("0 1 bf16 true True 3 0 127.0.0.1 ") == 0, one.output);
  auto second = Run({"launch", "--cpu", "-n", "2", "--num_machines", "2", "--machine_rank", "1", "--main_process_ip",
                     "10.0.0.7", "--main_process_port", "29611", "sh", "-c", show},
                    {{"OMP_NUM_THREADS", "5"}});
  CHECK_MESSAGE(second.output == "1 2 no True 5 1 10.0.0.7 29611\n", second.output);
}

TEST_CASE("the exit code is the failing rank's, and the message names it") {
  auto run = Run({"launch", "-n", "3", "sh", "-c", "[ $RANK = 1 ] && echo boom >&2 && exit 7; sleep 60"});
  CHECK(run.exit_code == 7);
  CHECK(run.errors.find("boom\n") != std::string::npos);
  CHECK_MESSAGE(run.errors.find("accelerate launch: rank 1 (pid ") != std::string::npos, run.errors);
  CHECK_MESSAGE(run.errors.find(") of sh ended with exit code 7") != std::string::npos, run.errors);
  CHECK(Run({"launch", "-n", "2", "sh", "-c", "kill -SEGV $$"}).exit_code == 139);
}

TEST_CASE("Ctrl-C and other requests to stop end every rank at once") {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Program program({ACCELERATE_COMMAND, "launch", "-n", "3", "sh", "-c", "echo up $$; exec sleep 60"});
    REQUIRE(Program::wait_until([&] { return count_lines(program.output()) == 3; }, 20s));
    auto start = std::chrono::steady_clock::now();
    program.send_signal(number);
    CHECK(program.wait(10s) == 128 + number);
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    std::istringstream lines(program.output());
    std::string word;
    for (pid_t pid; lines >> word >> pid;) CHECK_FALSE(is_alive(pid));
  }
}

TEST_CASE("no rank survives a launcher that is killed") {
  Program program({ACCELERATE_COMMAND, "launch", "-n", "4", "sh", "-c", "echo up $$; exec sleep 60"});
  REQUIRE(Program::wait_until([&] { return count_lines(program.output()) == 4; }, 20s));
  program.send_signal(SIGKILL);
  CHECK(program.wait(10s) == 137);
  std::istringstream lines(program.output());
  std::string word;
  int seen = 0;
  for (pid_t pid; lines >> word >> pid; ++seen) {
    CHECK(Program::wait_until([&] { return !is_alive(pid); }, 2s));
  }
  CHECK(seen == 4);
}

TEST_CASE("ranks keep ignoring what their launcher was told to ignore") {
  Program program(
      {"sh", "-c", std::string("trap '' HUP; exec ") + ACCELERATE_COMMAND + " launch -n 2 sh -c 'echo up; sleep 1'"});
  REQUIRE(Program::wait_until([&] { return count_lines(program.output()) == 2; }, 20s));
  program.send_signal(SIGHUP);
  CHECK(program.wait(20s) == 0);
}

TEST_CASE("a program of Python Accelerate runs on two ranks that find each other") {
  REQUIRE_MESSAGE(fs::exists(ACCELERATE_ORACLE_PYTHON), ACCELERATE_ORACLE_PYTHON " is missing; make build sets it up");
  char pattern[] = "/tmp/launch_python_XXXXXX";
  fs::path directory = mkdtemp(pattern);
  ScopeExit clean([&] { fs::remove_all(directory); });
  auto script = directory / "gather.py";
  std::ofstream(script)
      << "import torch\n"
         "from accelerate import Accelerator\n"
         "accelerator = Accelerator()\n"
         "ranks = accelerator.gather(torch.tensor([accelerator.process_index]))\n"
         "state = accelerator.state\n"
         "print(f'{state.distributed_type.value} {state.backend} {ranks.tolist()}\\n', end='', flush=True)\n"
         "accelerator.wait_for_everyone()\n"
         "accelerator.end_training()\n";  // else torch's threads may abort a process that ends
  auto python_first = fs::path(ACCELERATE_ORACLE_PYTHON).parent_path().string() + ":" + getenv("PATH");
  auto run = Run({"launch", "--cpu", "-n", "2", script.string()}, {{"PATH", python_first}});
  CHECK_MESSAGE(run.exit_code == 0, run.errors);
  CHECK_MESSAGE(run.output == "MULTI_CPU gloo [0, 1]\nMULTI_CPU gloo [0, 1]\n", run.output);
}
