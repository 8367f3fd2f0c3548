#include "accelerate/launch/settings/settings.h"

#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/launch/settings/launch_options.h"
#include "accelerate/launch/settings/show_settings.h"

using namespace accelerate;
using namespace accelerate::launch;

TEST_CASE("earlier sources win, and defaults come last") {
  SettingMap flags = {{"num_processes", {"2", "--num_processes"}}};
  SettingMap environment = {{"num_processes", {"3", "ACCELERATE_NUM_PROCESSES"}},
                            {"debug", {"yes", "ACCELERATE_DEBUG_MODE"}}};
  SettingMap config = {{"debug", {"false", "c.yaml:2"}}, {"mixed_precision", {"bf16", "c.yaml:1"}}};
  Settings settings({flags, environment, config});
  CHECK(settings.integer("num_processes") == 2);
  CHECK(settings.is_on("debug"));
  CHECK(settings.text("mixed_precision") == "bf16");
  CHECK(settings.integer("num_machines") == 1);
  CHECK_FALSE(settings.integer("main_process_port"));
  CHECK(settings.is_given("mixed_precision"));
  CHECK_FALSE(settings.is_given("num_machines"));
  auto text = show_settings(settings, {});
  for (auto part : {"num_processes: 2 ", "# --num_processes", "# ACCELERATE_DEBUG_MODE", "# c.yaml:1",
                    "num_machines: 1 ", "# default"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  }
}

TEST_CASE("a value of the wrong kind is named by where it comes from") {
  struct Case {
    std::string flag;
    Setting setting;
    const char* message;
  };
  for (const auto& [flag, setting, message] : std::vector<Case>{
           {"num_processes", {"two", "--num_processes"}, "--num_processes is 'two'; it must be a whole number"},
           {"num_processes", {"1.5", "ACCELERATE_NUM_PROCESSES"}, "ACCELERATE_NUM_PROCESSES is '1.5'"},
           {"num_processes", {"99999999999", "--num_processes"}, "whole number"},
           {"num_processes", {"", "--num_processes"}, "--num_processes is ''"},
           {"mixed_precision", {"fp17", "c.yaml:3"}, "c.yaml:3: mixed_precision is 'fp17'; it can be no, fp16 or bf16"},
           {"mixed_precision", {"fp8", "--mixed_precision"}, "needs Python libraries"},
           {"cpu", {"maybe", "ACCELERATE_USE_CPU"}, "ACCELERATE_USE_CPU is 'maybe'; it can be true or false"},
           {"shutdown_timeout", {"-1", "--shutdown_timeout"}, "number of seconds"},
           {"shutdown_timeout", {"soon", "--shutdown_timeout"}, "number of seconds"},
           {"rdzv_backend", {"etcd", "--rdzv_backend"}, "static or c10d"},
       }) {
    CHECK_THROWS_WITH_AS(Settings({{{flag, setting}}}), doctest::Contains(message), Error);
  }
}

TEST_CASE("a value that another one comes before is not looked at") {
  SettingMap flags = {{"mixed_precision", {"bf16", "--mixed_precision"}}};
  SettingMap environment = {{"mixed_precision", {"fp8", "ACCELERATE_MIXED_PRECISION"}}};
  SettingMap config = {{"mixed_precision", {"fp9", "c.yaml:1"}}};
  CHECK(Settings({flags, environment, config}).text("mixed_precision") == "bf16");
  CHECK_THROWS_AS(Settings({environment, flags}), Error);
}

TEST_CASE("a backend of torch.compile is read in the capitals in which launchers pass it on") {
  PatchEnvironment patch{{"ACCELERATE_DYNAMO_BACKEND", "INDUCTOR"}};
  CHECK(Settings({settings_of_environment()}).text("dynamo_backend") == "inductor");
}

TEST_CASE("with c10d machines get their rank by arrival, unless it is given on the spot") {
  SettingMap config = {
      {"rdzv_backend", {"c10d", "c.yaml:1"}}, {"num_machines", {"2", "c.yaml:2"}}, {"machine_rank", {"0", "c.yaml:3"}}};
  CHECK(options_of(Settings({config}), 0).rank_by_arrival);
  for (auto origin : {"--machine_rank", "ACCELERATE_MACHINE_RANK", "SLURM_NODEID"}) {
    SettingMap given = {{"machine_rank", {"1", origin}}};
    CHECK_FALSE(options_of(Settings({given, config}), 0).rank_by_arrival);
  }
  config["rdzv_backend"].value = "static";
  CHECK_FALSE(options_of(Settings({config}), 0).rank_by_arrival);
}

TEST_CASE("options that do not fit are named by where they come from") {
  SettingMap config = {{"num_machines", {"2", "c.yaml:2"}}, {"num_processes", {"3", "c.yaml:3"}}};
  CHECK_THROWS_WITH_AS(check(options_of(Settings({config}), 0)), doctest::Contains("c.yaml:3: num_processes is 3"),
                       Error);
  SettingMap environment = {{"max_restarts", {"-1", "ACCELERATE_MAX_RESTARTS"}}};
  CHECK_THROWS_WITH_AS(check(options_of(Settings({environment}), 0)),
                       doctest::Contains("ACCELERATE_MAX_RESTARTS is -1"), Error);
  SettingMap streams = {{"tee", {"7", "ACCELERATE_TEE"}}};
  CHECK_THROWS_WITH_AS(options_of(Settings({streams}), 0), doctest::Contains("ACCELERATE_TEE is '7'"), Error);
}

TEST_CASE("every flag has an environment variable of its own") {
  std::map<std::string, std::string> flags;
  for (const auto& flag : launch_flags()) {
    CHECK(flag.variable().starts_with("ACCELERATE_"));
    CHECK_MESSAGE(flags.emplace(flag.variable(), flag.name).second, flag.name);
  }
  PatchEnvironment patch{{"ACCELERATE_MAX_RESTARTS", "7"}, {"ACCELERATE_USE_CPU", "1"}, {"ACCELERATE_ROLE", ""}};
  auto settings = settings_of_environment();
  CHECK(settings["max_restarts"].value == "7");
  CHECK(settings["cpu"].origin == "ACCELERATE_USE_CPU");
  CHECK_FALSE(settings.contains("role"));
}

TEST_CASE("flags of Python's launcher that mean nothing here say why") {
  for (auto name : {"use_deepspeed", "deepspeed_config_file", "zero3_init_flag", "zero3_save_16bit_model",
                    "offload_param_device", "gradient_clipping", "use_megatron_lm", "megatron_lm_tp_degree", "tpu",
                    "tpu_cluster", "vm", "env", "downcast_bf16", "aws_access_key_id", "fp8_backend"}) {
    CHECK_MESSAGE(why_not_here(name) != "", name);
  }
  CHECK(why_not_here("vmware") == "");
  for (const auto& flag : launch_flags()) CHECK_MESSAGE(why_not_here(flag.name) == "", flag.name);
}

TEST_CASE("a configuration file gives flags, with its lines as their origin") {
  config::LaunchConfig config;
  config.file = "c.yaml";
  config.positions = {{"num_processes", {4, 1}}, {"use_cpu", {5, 1}}, {"dynamo_config.dynamo_backend", {7, 3}}};
  config.num_processes = 4;
  config.use_cpu = true;
  config.distributed_type = "MULTI_CPU";
  config.dynamo_config = {{"dynamo_backend", "INDUCTOR"}};
  config.mpirun_config = {{"mpirun_hostfile", "hosts"}};
  Settings settings({settings_of_config(config)});
  CHECK(settings.integer("num_processes") == 4);
  CHECK(settings.is_on("cpu"));
  CHECK(settings.text("dynamo_backend") == "inductor");
  CHECK(settings.text("mpirun_hostfile") == "hosts");
  auto shown = show_settings(settings, {});
  CHECK_MESSAGE(shown.find("# c.yaml:4") != std::string::npos, shown);

  config.distributed_type = "DEEPSPEED";
  CHECK_THROWS_WITH_AS(settings_of_config(config), doctest::Contains("DeepSpeed"), Error);
}

TEST_CASE("what cannot make a difference to the program is not shown, unless it was given or all is asked for") {
  auto names_in = [](const std::string& text) {
    std::set<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#")) names.insert(line.substr(0, line.find(':')));
    }
    return names;
  };
  Settings plain({});
  auto for_cpp = names_in(show_settings(plain, {.program = "./train"}));
  for (auto name : {"num_processes", "cpu", "mixed_precision", "num_machines", "max_restarts", "debug"}) {
    CHECK_MESSAGE(for_cpp.contains(name), name);
  }
  for (auto name : {"gpu_ids", "multi_gpu", "machine_rank", "rdzv_backend", "dynamo_backend", "use_fsdp",
                    "fsdp_sharding_strategy", "parallelism_config_tp_size"}) {
    CHECK_MESSAGE(!for_cpp.contains(name), name);
  }
  auto for_python = names_in(show_settings(plain, {.program = "train.py", .gpus = 2}));
  for (auto name : {"gpu_ids", "multi_gpu", "dynamo_backend", "use_fsdp"})
    CHECK_MESSAGE(for_python.contains(name), name);
  CHECK_FALSE(for_python.contains("fsdp_sharding_strategy"));
  CHECK_FALSE(for_python.contains("dynamo_mode"));

  SettingMap given = {{"use_fsdp", {"true", "c.yaml:1"}},
                      {"num_machines", {"2", "c.yaml:2"}},
                      {"dynamo_mode", {"default", "ACCELERATE_DYNAMO_MODE"}}};
  auto with_given = names_in(show_settings(Settings({given}), {.program = "./train"}));
  for (auto name : {"use_fsdp", "fsdp_sharding_strategy", "machine_rank", "rdzv_backend", "dynamo_mode"}) {
    CHECK_MESSAGE(with_given.contains(name), name);
  }
  auto all = names_in(show_settings(plain, {.program = "./train", .all = true}));
  for (const auto& flag : launch_flags()) {
    if (!flag.fallback.empty() && flag.name != "show_config") CHECK_MESSAGE(all.contains(flag.name), flag.name);
  }
  CHECK(show_settings(plain, {}).find(" defaults that have no effect here are omitted") != std::string::npos);
  CHECK(show_settings(plain, {.all = true}).find("are omitted") == std::string::npos);
  CHECK(show_settings(plain, {.gpus = 4}).find("num_processes: 4 ") != std::string::npos);
}

TEST_CASE("FSDP becomes the variables that Python's Accelerate reads") {
  SettingMap flags = {{"use_fsdp", {"true", "--use_fsdp"}},
                      {"fsdp_transformer_layer_cls_to_wrap", {"BertLayer", "--x"}}};
  auto options = options_of(Settings({flags}), 0);
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : options.sharding_variables) variables[name] = value.value_or("");
  CHECK(variables["ACCELERATE_USE_FSDP"] == "true");
  CHECK(variables["FSDP_TRANSFORMER_CLS_TO_WRAP"] == "BertLayer");
  CHECK(variables["FSDP_MIN_NUM_PARAMS"] == "100000000");
  CHECK(variables["FSDP_SHARDING_STRATEGY"] == "FULL_SHARD");
  CHECK(variables.count("FSDP_STATE_DICT_TYPE") == 0);
  CHECK(options_of(Settings({}), 0).sharding_variables.empty());
}
