// Files go both ways between us and Python's Accelerate.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "accelerate/config/assign.h"
#include "accelerate/config/keys.h"
#include "accelerate/config/write_config.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::config;
using accelerate::tests::Program;
using accelerate::tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

/// Reads each file as Python's launcher does, and writes what it understood beside it, in its own words.
constexpr const char* kPythonReadsAll = R"(
import pathlib, sys
from accelerate.commands.config.config_args import load_config_from_file
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.*")):
    config = load_config_from_file(str(path))
    config.to_yaml_file(str(path) + ".python.yaml")
    config.to_json_file(str(path) + ".python.json")
)";

/// All that the questionnaire always writes.
LaunchConfig complete_config() {
  return {.compute_environment = "LOCAL_MACHINE",
          .distributed_type = "MULTI_CPU",
          .mixed_precision = "no",
          .use_cpu = true,
          .debug = false,
          .num_processes = 4,
          .machine_rank = 0,
          .num_machines = 1,
          .rdzv_backend = "static",
          .same_network = true,
          .main_training_function = "main",
          .enable_cpu_affinity = false,
          .downcast_bf16 = "no",
          .tpu_use_cluster = false,
          .tpu_use_sudo = false,
          .tpu_env = std::vector<std::string>{}};
}

std::vector<std::vector<std::string>> variations() {
  return {{},
          {"distributed_type=NO", "num_processes=1", "gpu_ids=all"},
          {"distributed_type=MULTI_GPU", "gpu_ids=0", "mixed_precision=fp16", "use_cpu=false"},
          {"num_machines=2", "machine_rank=1", "main_process_ip=10.0.0.1", "main_process_port=29501"},
          {"main_process_ip=node-1.example.org", "rdzv_backend=c10d", "same_network=false"},
          {"mpirun_config.mpirun_hostfile=~/hostfile"},
          {"dynamo_config.dynamo_backend=INDUCTOR", "dynamo_config.dynamo_use_dynamic=true"},
          {"distributed_type=FSDP", "fsdp_config.fsdp_version=2", "fsdp_config.fsdp_min_num_params=100000000"},
          {"main_training_function=null_", "tpu_name=1:30", "tpu_zone=0x1F", "command_file=a: b #c"},
          {"tpu_name=yes", "tpu_zone=12", "gpu_ids=0,1", "command_file='quoted' and \"more\""}};
}

/// Writes a file with every key that the installed package knows: the fields of its configuration, and in each section
/// the flags that its launcher reads from there and the keys that its questionnaire writes.
constexpr const char* kPythonWritesAllKeys = R"python(
import re, sys, dataclasses, inspect, yaml
from accelerate.commands.config import cluster
from accelerate.commands.config.config_args import ClusterConfig
from accelerate.commands.launch import launch_command_parser
sections = {"fsdp_config": "fsdp_", "parallelism_config": "parallelism_config_", "dynamo_config": "dynamo_",
            "mpirun_config": "mpirun_", "fp8_config": "fp8_", "megatron_lm_config": "megatron_lm_"}
flags = [action.dest for action in launch_command_parser()._actions]
source = inspect.getsource(cluster)
config = {}
for field in dataclasses.fields(ClusterConfig):
    if field.name.endswith("_config"):
        prefix = sections.get(field.name, "")
        keys = {flag for flag in flags if prefix and flag.startswith(prefix)}
        keys |= set(re.findall(field.name + r'\["(\w+)"\] =', source))
        keys |= {prefix + key for key in re.findall(field.name + r'\[prefix \+ "(\w+)"\] =', source)}
        if field.name == "deepspeed_config":
            keys |= {flag for flag in flags if flag.startswith(("deepspeed_", "zero", "offload_", "gradient_"))}
        config[field.name] = {key: 1 for key in keys}
    else:
        config[field.name] = None
config["distributed_type"] = "MULTI_CPU"
assert len(config) > 25 and len(config["fsdp_config"]) > 10, config
assert "parallelism_config_sp_size" in config["parallelism_config"], config
with open(sys.argv[1], "w") as file:
    yaml.safe_dump(config, file)
)python";

}  // namespace

TEST_CASE("every key that the installed Python package knows is known here") {
  REQUIRE_MESSAGE(fs::exists(ACCELERATE_ORACLE_PYTHON), ACCELERATE_ORACLE_PYTHON " is missing; make build sets it up");
  TemporaryDirectory directory;
  auto file = directory.path() / "all_keys.yaml";
  Program python({ACCELERATE_ORACLE_PYTHON, "-c", kPythonWritesAllKeys, file.string()});
  int exit_code = python.wait();
  REQUIRE_MESSAGE(exit_code == 0, python.errors());
  auto config = read_launch_config(file);
  // Not only taken for no slip: sections that list their keys list all of them.
  for (const auto& key : keys()) {
    const auto* section = std::get_if<Section LaunchConfig::*>(&key.member);
    if (section == nullptr || key.choices.empty()) continue;
    for (const auto& [name, value] : config.**section) {
      bool known = std::find(key.choices.begin(), key.choices.end(), name) != key.choices.end();
      CHECK_MESSAGE(known, key.name, ": ", name);
    }
  }
}

TEST_CASE("Python reads our files as we mean them, and we read what Python makes of them") {
  REQUIRE_MESSAGE(fs::exists(ACCELERATE_ORACLE_PYTHON), ACCELERATE_ORACLE_PYTHON " is missing; make build sets it up");
  TemporaryDirectory directory;
  std::vector<LaunchConfig> configs;
  for (const auto& assignments : variations()) {
    auto config = complete_config();
    for (const auto& assignment : assignments) assign_text(config, assignment);
    auto stem = directory.path() / std::to_string(configs.size());
    write_launch_config(config, stem.string() + ".yaml");
    write_launch_config(config, stem.string() + ".json");
    configs.push_back(config);
  }
  Program python({ACCELERATE_ORACLE_PYTHON, "-c", kPythonReadsAll, directory.path().string()});
  int exit_code = python.wait();
  REQUIRE_MESSAGE(exit_code == 0, python.errors());

  for (size_t i = 0; i < configs.size(); ++i) {
    CAPTURE(i);
    auto expected = to_yaml(configs[i]);
    for (const std::string source : {".yaml", ".json"}) {
      auto name = std::to_string(i) + source;
      CHECK(directory.read(name + ".python.json") == to_json(configs[i]));
      bool same_quotes = expected.find('"') == std::string::npos;  // Python prefers single ones
      if (same_quotes) CHECK(directory.read(name + ".python.yaml") == expected);
      for (const std::string written : {".python.yaml", ".python.json"}) {
        CHECK(to_yaml(read_launch_config(directory.path() / (name + written))) == expected);
      }
    }
  }
}
