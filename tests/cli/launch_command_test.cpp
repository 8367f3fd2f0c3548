// The command `accelerate` as a user runs it.

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "accelerate/base/cpu.h"
#include "accelerate/base/scope.h"
#include "accelerate/base/version.h"
#include "tests/cli/command_run.h"

using namespace accelerate;
using accelerate::tests::Run;
namespace fs = std::filesystem;

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
                     "127.0.0.1", "--main_process_port", "29611", "sh", "-c", show},
                    {{"OMP_NUM_THREADS", "5"}});
  CHECK_MESSAGE(second.output == "1 2 no True 5 1 127.0.0.1 29611\n", second.output);
}

TEST_CASE("processes that mpirun starts share the cores, too") {
  auto share = std::to_string(std::max(1, std::min(physical_cores(), available_cores()) / 2)) + "\n";
  std::string show = "echo $OMP_NUM_THREADS";
  for (auto size : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    std::vector<EnvironmentVariable> started_by_mpi = {
        {"OMP_NUM_THREADS", std::nullopt}, {"OMPI_COMM_WORLD_SIZE", "2"}, {size, "2"}};
    CHECK(Run({"launch", "--cpu", "sh", "-c", show}, started_by_mpi).output == share);
  }
  tests::TemporaryDirectory directory;
  auto mpirun = directory.write("mpirun", "#!/bin/sh\n[ \"$1\" = --version ] && echo Open MPI || " + show + "\n");
  fs::permissions(mpirun, fs::perms::owner_all);
  auto with_mpirun = directory.path().string() + ":" + getenv("PATH");
  auto hosts = directory.write("hosts", "localhost slots=2\n");
  auto run = Run({"launch", "--cpu", "-n", "2", "--mpirun_hostfile", hosts, "true"},
                 {{"OMP_NUM_THREADS", std::nullopt}, {"PATH", with_mpirun}});
  CHECK_MESSAGE(run.output == share, run.errors);
}

TEST_CASE("a launcher can be launched") {
  auto run = Run({"launch", "-n", "2", ACCELERATE_COMMAND, "launch", "-n", "1", "sh", "-c", "echo $WORLD_SIZE"});
  CHECK_MESSAGE(run.output == "1\n1\n", run.errors);
}

TEST_CASE("the exit code is the failing rank's, and the message names it") {
  auto run = Run({"launch", "-n", "3", "sh", "-c", "[ $RANK = 1 ] && echo boom >&2 && exit 7; sleep 60"});
  CHECK(run.exit_code == 7);
  CHECK(run.errors.find("boom\n") != std::string::npos);
  CHECK_MESSAGE(run.errors.find("accelerate launch: rank 1 (pid ") != std::string::npos, run.errors);
  CHECK_MESSAGE(run.errors.find(") of sh ended with exit code 7") != std::string::npos, run.errors);
  CHECK(Run({"launch", "-n", "2", "sh", "-c", "kill -SEGV $$"}).exit_code == 139);
}

TEST_CASE("a flag comes before the environment, that before the configuration, and --show_config tells") {
  tests::TemporaryDirectory directory;
  auto config = directory.write(
      "config.yaml",
      "distributed_type: MULTI_CPU\nnum_processes: 3\nmixed_precision: bf16\nuse_cpu: true\ndebug: true\n");
  std::vector<EnvironmentVariable> environment = {{"ACCELERATE_MIXED_PRECISION", "fp16"},
                                                  {"ACCELERATE_DEBUG_MODE", "no"}};
  std::string show = "echo $WORLD_SIZE $ACCELERATE_MIXED_PRECISION ${ACCELERATE_DEBUG_MODE:-off}";
  auto run = Run({"launch", "--config_file", config, "-n", "1", "sh", "-c", show}, environment);
  CHECK_MESSAGE(run.output == "1 fp16 no\n", run.output, run.errors);
  auto shown = Run({"launch", "--config_file", config, "-n", "1", "--show_config"}, environment).output;
  for (auto [value, origin] : {std::pair{"num_processes: 1 ", "# --num_processes"},
                               {"mixed_precision: fp16 ", "# ACCELERATE_MIXED_PRECISION"},
                               {"cpu: true ", "config.yaml:4"},
                               {"num_machines: 1 ", "# default"}}) {
    auto at = shown.find(value);
    REQUIRE_MESSAGE(at != std::string::npos, shown);
    auto line = shown.substr(at, shown.find('\n', at) - at);
    CHECK_MESSAGE(line.find(origin) != std::string::npos, line);
  }
}

TEST_CASE("--zero_stage reaches a C++ program, from the flag or the variable") {
  std::string show = "echo ${ACCELERATE_ZERO_STAGE:-none}";
  CHECK(Run({"launch", "sh", "-c", show}).output == "none\n");
  CHECK(Run({"launch", "--zero_stage", "2", "sh", "-c", show}).output == "2\n");
  CHECK(Run({"launch", "--zero_stage=0", "sh", "-c", show}, {{"ACCELERATE_ZERO_STAGE", "1"}}).output == "0\n");
  CHECK(Run({"launch", "sh", "-c", show}, {{"ACCELERATE_ZERO_STAGE", "1"}}).output == "1\n");
  auto shown = Run({"launch", "--show_config", "ls"}, {{"ACCELERATE_ZERO_STAGE", "1"}}).output;
  CHECK_MESSAGE(shown.find("zero_stage: 1 ") != std::string::npos, shown);
  CHECK_MESSAGE(shown.find("# ACCELERATE_ZERO_STAGE\n") != std::string::npos, shown);
}

TEST_CASE("--show_config shows what concerns the program, and all on request") {
  auto shown = Run({"launch", "--cpu", "--show_config", "ls"});
  CHECK(shown.exit_code == 0);
  CHECK_MESSAGE(shown.output.find("fsdp") == std::string::npos, shown.output);
  CHECK_MESSAGE(shown.output.find("\n# Processes\nnum_processes: 1 ") != std::string::npos, shown.output);
  auto all = Run({"launch", "--cpu", "--show_config=all", "ls"});
  CHECK(all.exit_code == 0);
  CHECK(all.output.find("fsdp_sharding_strategy: FULL_SHARD ") != std::string::npos);
  CHECK(tests::count_lines(all.output) > tests::count_lines(shown.output) + 20);
}

TEST_CASE("the default configuration is found through HF_HOME, and --cpu leaves it aside") {
  tests::TemporaryDirectory directory;
  directory.write("accelerate/default_config.yaml", "distributed_type: MULTI_CPU\nnum_processes: 3\nuse_cpu: true\n");
  std::vector<EnvironmentVariable> home = {{"HF_HOME", directory.path().string()}};
  CHECK(Run({"launch", "sh", "-c", "echo $WORLD_SIZE"}, home).output == "3\n3\n3\n");
  CHECK(Run({"launch", "--cpu", "sh", "-c", "echo $WORLD_SIZE"}, home).output == "1\n");
}

TEST_CASE("values arrive byte for byte, and no shell sees them") {
  std::vector<std::string> hostile = {"$(id)", "`id`",         "a;b|c&d", "'\"", "line\nbreak", "-n",
                                      "",      "\xc3\xa9\xff", "*",       "~",   "\\"};
  std::vector<std::string> words = {"launch", "-n", "1", "printf", "%s\\0"};
  std::string expected;
  for (const auto& value : hostile) {
    words.push_back(value);
    expected += value + '\0';
  }
  CHECK(Run(words).output == expected);
}

TEST_CASE("logs go to a directory per rank, with a link to the latest") {
  tests::TemporaryDirectory directory;
  auto logs = directory.path() / "logs";
  auto script = "echo out $RANK; echo err $RANK >&2";
  auto run =
      Run({"launch", "-n", "2", "--tee", "0:3", "--redirects", "1:1", "--log_dir", logs.string(), "sh", "-c", script});
  CHECK(run.exit_code == 0);
  CHECK(run.output == "[default0]:out 0\n");
  CHECK_MESSAGE(run.errors.find("[default0]:err 0\n") != std::string::npos, run.errors);
  CHECK_MESSAGE(run.errors.find("err 1\n") != std::string::npos, run.errors);
  auto latest = logs / "latest" / "attempt_0";
  CHECK(tests::text_of(latest / "0/stdout.log") == "out 0\n");
  CHECK(tests::text_of(latest / "0/stderr.log") == "err 0\n");
  CHECK(tests::text_of(latest / "1/stdout.log") == "out 1\n");
  CHECK_FALSE(fs::exists(latest / "1/stderr.log"));
  CHECK((fs::status(fs::canonical(logs / "latest")).permissions() & fs::perms(0777)) == fs::perms(0700));
}

TEST_CASE("a rank can wait for a debugger") {
  tests::Program program(
      {ACCELERATE_COMMAND, "launch", "-n", "2", "--wait_for_debugger", "1", "sh", "-c", "echo rank $RANK"});
  REQUIRE(program.writes("rank 0"));
  auto errors = program.errors();
  auto at = errors.find("gdb -p ");
  REQUIRE_MESSAGE(at != std::string::npos, errors);
  pid_t pid = std::stoi(errors.substr(at + 7));
  usleep(200'000);
  CHECK(program.output() == "rank 0\n");
  CHECK(tests::text_of("/proc/" + std::to_string(pid) + "/comm") == "sh\n");
  kill(pid, SIGCONT);
  CHECK(program.wait() == 0);
  CHECK(program.output() == "rank 0\nrank 1\n");
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
