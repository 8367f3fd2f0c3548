// accelerate config as a user runs it: on a terminal, through a pipe, and without questions.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "accelerate/config/launch_config.h"
#include "tests/cli/command_run.h"
#include "tests/cli/terminal.h"
#include "tests/support/time_limit.h"

using namespace accelerate;
using accelerate::tests::Result;
using accelerate::tests::run;
using accelerate::tests::TemporaryDirectory;
using accelerate::tests::Terminal;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// `accelerate` with these words.
Result accelerate_with(std::vector<std::string> words, const std::vector<EnvironmentVariable>& environment = {}) {
  words.insert(words.begin(), ACCELERATE_COMMAND);
  return run(words, environment);
}

}  // namespace

TEST_CASE("on a terminal, arrows, numbers and words answer the questions") {
  TemporaryDirectory directory;
  auto file = (directory.path() / "config.yaml").string();
  Terminal terminal(directory.path(), std::string(ACCELERATE_COMMAND) + " config --config_file " + file);
  REQUIRE_MESSAGE(terminal.shows(" > 0) on this machine"), terminal.screen());
  CHECK(terminal.screen().find("   1) on Amazon SageMaker") != std::string::npos);

  terminal.press({"Down"});
  CHECK_MESSAGE(terminal.shows(" > 1) on Amazon SageMaker"), terminal.screen());
  terminal.press({"Up"});
  CHECK(terminal.shows(" > 0) on this machine"));
  terminal.press({"Enter"});
  REQUIRE(terminal.shows("Where does the job run?: on this machine, or on similar machines"));
  CHECK_MESSAGE(terminal.screen().find("SageMaker") == std::string::npos, "the menu is gone when it is answered");

  terminal.press({"1", "0"});
  CHECK_MESSAGE(terminal.shows(" > 10) a TPU"), terminal.screen());
  terminal.press({"1"});
  CHECK(terminal.shows(" > 1) several processes on CPUs"));
  terminal.press({"Enter"});
  REQUIRE(terminal.shows("How many machines are there? [1]:"));
  terminal.press({"none", "Enter"});
  CHECK(terminal.shows("'none' is not a whole number"));
  terminal.press({"Enter"});
  REQUIRE(terminal.shows("Check the collectives"));
  terminal.press({"yes", "Enter"});
  REQUIRE(terminal.shows("mpirun"));
  terminal.press({"Enter"});
  REQUIRE(terminal.shows("Use torch.compile"));
  terminal.press({"Enter"});
  REQUIRE(terminal.shows("How many processes"));
  terminal.press({"4", "Enter"});
  REQUIRE(terminal.shows(" > 0) no"));
  terminal.press({"j", "j"});
  CHECK(terminal.shows(" > 2) bf16"));
  terminal.press({"Enter"});
  REQUIRE_MESSAGE(terminal.shows("ended with 0"), terminal.screen());

  auto config = config::read_launch_config(file);
  CHECK(config.distributed_type == "MULTI_CPU");
  CHECK(config.num_processes == 4);
  CHECK(config.debug == true);
  CHECK(config.mixed_precision == "bf16");
}

TEST_CASE("a menu that is longer than the screen shows the question and the part around the mark") {
  TemporaryDirectory directory;
  auto file = (directory.path() / "config.yaml").string();
  Terminal terminal(directory.path(), std::string(ACCELERATE_COMMAND) + " config --config_file " + file, /*lines=*/24);
  REQUIRE(terminal.shows(" > 0) on this machine"));
  terminal.press({"Enter"});
  REQUIRE(terminal.shows(" > 0) one process"));
  terminal.press({"1", "Enter"});
  REQUIRE(terminal.shows("How many machines"));
  terminal.press({"40", "Enter"});
  auto question = "What is the rank of this machine?";
  REQUIRE_MESSAGE(terminal.shows(" > 0) 0"), terminal.screen());
  CHECK(terminal.shows(question));
  terminal.press({"Up"});
  CHECK_MESSAGE(terminal.shows(" > 39) 39"), terminal.screen());
  CHECK(terminal.shows(question));
  terminal.press({"1", "2"});
  CHECK_MESSAGE(terminal.shows(" > 12) 12"), terminal.screen());
  CHECK_MESSAGE(terminal.screen().find(") 39") == std::string::npos, terminal.screen());
  terminal.press({"Enter"});
  CHECK_MESSAGE(terminal.shows(std::string(question) + ": 12"), terminal.screen());
  CHECK_MESSAGE(terminal.screen().find("13) 13") == std::string::npos, terminal.screen());
}

TEST_CASE("Ctrl-C in a menu ends the program and leaves the terminal as it was") {
  TemporaryDirectory directory;
  auto file = (directory.path() / "config.yaml").string();
  Terminal terminal(directory.path(), std::string(ACCELERATE_COMMAND) + " config --config_file " + file + "; stty -a");
  REQUIRE(terminal.shows(" > 0) on this machine"));
  terminal.press({"C-c"});
  REQUIRE_MESSAGE(terminal.shows(" echo "), terminal.screen());
  CHECK(terminal.screen().find(" icanon") != std::string::npos);
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("without a terminal the questions are plain lines, answered by numbers or words") {
  TemporaryDirectory directory;
  auto file = (directory.path() / "config.yaml").string();
  auto answers = directory.write("answers", "0\nseveral processes on CPUs\n\n\n\n\n2\nbf17\nbf16\n");
  auto result = run({"sh", "-c", std::string(ACCELERATE_COMMAND) + " config --config_file " + file + " < " + answers});
  CHECK_MESSAGE(result.exit_code == 0, result.errors);
  CHECK(result.output.find("\x1b[") == std::string::npos);
  CHECK(result.output.find("'bf17' is not an option; type a number from 0 to 3.") != std::string::npos);
  CHECK(result.output.ends_with("Configuration written to " + file + "\n"));
  auto config = config::read_launch_config(file);
  CHECK(config.num_processes == 2);
  CHECK(config.mixed_precision == "bf16");

  auto cut = run({"sh", "-c", std::string(ACCELERATE_COMMAND) + " config --config_file " + file + " < /dev/null"});
  CHECK(cut.exit_code == 1);
  CHECK(cut.errors.find("the input ended at the question 'Number'; use --non_interactive to ask nothing") !=
        std::string::npos);
}

TEST_CASE("config default writes the usual file once, config update brings an old one up to date") {
  TemporaryDirectory directory;
  std::vector<EnvironmentVariable> home = {{"HF_HOME", directory.path().string()}};
  auto file = directory.path() / "accelerate" / "default_config.yaml";
  CHECK(accelerate_with({"config", "default", "--mixed-precision", "bf16"}, home).output ==
        "Configuration written to " + file.string() + "\n");
  auto config = config::read_launch_config(file);
  CHECK(config.distributed_type == "NO");
  CHECK(config.mixed_precision == "bf16");
  auto again = accelerate_with({"config", "default"}, home);
  CHECK(again.exit_code == 0);
  CHECK(again.output.find("exists and was not changed") != std::string::npos);
  CHECK(config::read_launch_config(file).mixed_precision == "bf16");

  std::ofstream(file) << "distributed_type: MULTI_GPU\nfp16: true\nnum_processes: 2\n";
  auto update = accelerate_with({"config", "update"}, home);
  CHECK(update.output.find("fp16 was replaced by mixed_precision\n") == 0);
  config = config::read_launch_config(file);
  CHECK(config.upgrades.empty());
  CHECK(config.mixed_precision == "fp16");
  CHECK(config.num_processes == 2);
  CHECK(config.rdzv_backend == "static");
}

TEST_CASE("--set changes keys without questions, --non_interactive asks none") {
  TemporaryDirectory directory;
  auto file = (directory.path() / "config.json").string();
  CHECK(
      accelerate_with({"config", "--config_file", file, "--set", "distributed_type=MULTI_CPU", "--set=num_processes=3"})
          .exit_code == 0);
  CHECK(accelerate_with({"config", "--non-interactive", "--config-file=" + file, "--set", "debug=true"}).exit_code ==
        0);
  auto config = config::read_launch_config(file);
  CHECK(config.distributed_type == "MULTI_CPU");
  CHECK(config.num_processes == 3);
  CHECK(config.debug == true);
  CHECK(nlohmann::json::parse(directory.read("config.json"))["num_processes"] == 3);
}

TEST_CASE("Python's launcher runs a job by our file, and ours by Python's") {
  REQUIRE_MESSAGE(fs::exists(ACCELERATE_ORACLE_PYTHON), ACCELERATE_ORACLE_PYTHON " is missing; make build sets it up");
  TemporaryDirectory directory;
  auto ours = (directory.path() / "ours.yaml").string(), python = (directory.path() / "python.yaml").string();
  auto script = directory.write("show.sh", "#!/bin/sh\necho $ACCELERATE_MIXED_PRECISION $ACCELERATE_USE_CPU\n");
  fs::permissions(script, fs::perms::owner_all);
  accelerate_with({"config", "default", "--mixed_precision", "bf16", "--config_file", ours, "--set", "use_cpu=true"});
  auto by_python = run({ACCELERATE_ORACLE_PYTHON, "-m", "accelerate.commands.accelerate_cli", "launch", "--config_file",
                        ours, "--no_python", script});
  CHECK_MESSAGE(by_python.exit_code == 0, by_python.errors);
  CHECK(by_python.output == "bf16 True\n");

  auto made = run({ACCELERATE_ORACLE_PYTHON, "-m", "accelerate.commands.accelerate_cli", "config", "default",
                   "--mixed_precision", "fp16", "--config_file", python});
  REQUIRE_MESSAGE(made.exit_code == 0, made.errors);
  auto by_us = accelerate_with({"launch", "--config_file", python, script});
  CHECK_MESSAGE(by_us.exit_code == 0, by_us.errors);
  CHECK(by_us.output.starts_with("fp16 "));
}

TEST_CASE("bad input of these commands is one to three lines, exit code 2 and quick") {
  TemporaryDirectory directory;
  auto bad = directory.write("bad.yaml", "distributed_type: MULTI_CPU\nnum_proceses: 2\n");
  auto old = directory.write("plain.yaml", "distributed_type: MULTI_CPU\n");
  struct Case {
    std::vector<std::string> words;
    std::string message;
  };
  for (const auto& [words, message] : std::vector<Case>{
           {{"cofnig"}, "did you mean config?"},
           {{"config", "defualt"}, "defualt"},
           {{"config", "--confg_file", "x"}, "did you mean --config_file?"},
           {{"config", "--config_file"}, "--config_file needs a value"},
           {{"config", "--set", "debug"}, "'debug' is not an assignment"},
           {{"config", "--set", "debgu=true"}, "did you mean debug?"},
           {{"config", "--set", "debug=7"}, "debug=7: debug is '7'; it can be true or false"},
           {{"config", "--mixed_precision", "bf16"}, "--set mixed_precision=bf16"},
           {{"config", "default", "--mixed_precision", "fp8"}, "fp8"},
           {{"config", "update", "--config_file", bad}, bad + ":2:1: unknown key 'num_proceses'"},
           {{"config", "update", "--config_file", "/nowhere.yaml"}, "/nowhere.yaml: no such file"},
           {{"env", "--config_file", bad}, bad + ":2:1: unknown key"},
           {{"env", "--all"}, "unknown flag --all"},
           {{"estimate-memory"}, "no model is given"},
           {{"estimate-memory", "x", "--dtypes", "float31"}, "float31"},
           {{"merge-weights", "a"}, "give an input directory"},
           {{"merge-weights", "a", "b", "--unsafe_serialization"}, "pickle"},
           {{"to-fsdp2"}, "--config_file"},
           {{"to-fsdp2", "--config_file", old}, "--output_file"},
           {{"to-fsdp2", "--config_file", old, "--overwrite"}, "has no fsdp_config"},
           {{"to-fsdp2", "--config_file", bad, "--overwrite"}, "num_proceses"},
           {{"tpu-config"}, "a TPU needs Python's XLA"},
           {{"tpu-config", "--tpu_name", "x"}, "a TPU needs Python's XLA"},
           {{"completion"}, "no shell is given"},
           {{"completion", "tcsh"}, "tcsh"},
           {{"man-pages"}, "no directory is given"},
           {{"doctor", "--fix"}, "unknown flag --fix"},
       }) {
    Result result;
    bool quick = false;
    for (int attempt = 0; attempt < 10 && !quick; ++attempt) {  // the machine may be busy with other tests
      auto start = std::chrono::steady_clock::now();
      result = accelerate_with(words, {{"HF_HOME", directory.path().string()}});
      quick = std::chrono::steady_clock::now() - start < tests::limit_of(50ms);
    }
    CAPTURE(words.front());
    CHECK(quick);
    CHECK(result.exit_code == 2);
    CHECK(result.output == "");
    CHECK_MESSAGE(result.errors.find(message) != std::string::npos, result.errors);
    CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') <= 3);
  }
  for (const auto& words : std::vector<std::vector<std::string>>{{"estimate-memory", "/nowhere"},
                                                                 {"merge-weights", "/nowhere", directory.path()}}) {
    auto result = accelerate_with(words);
    CHECK(result.exit_code == 1);
    CHECK_MESSAGE(result.errors.find("/nowhere: no such file") != std::string::npos, result.errors);
  }
}
