#include "accelerate/config/assign.h"

#include <doctest/doctest.h>

#include "accelerate/config/write_config.h"

using namespace accelerate;
using namespace accelerate::config;

TEST_CASE("an assignment sets a key of any type, inside a section too, and null takes it away") {
  LaunchConfig config;
  for (auto text : {"distributed_type=MULTI_CPU", "num_processes=4", "debug=true", "main_process_ip=10.0.0.1",
                    "tpu_env=A=1,B=2", "dynamo_config.dynamo_backend=INDUCTOR", "fsdp_config.fsdp_version=2"}) {
    assign_text(config, text);
  }
  CHECK(config.num_processes == 4);
  CHECK(config.debug == true);
  CHECK(config.tpu_env == std::vector<std::string>{"A=1", "B=2"});
  CHECK(std::get<std::string>(config.dynamo_config.at("dynamo_backend")) == "INDUCTOR");
  CHECK(std::get<int64_t>(config.fsdp_config.at("fsdp_version")) == 2);
  assign_text(config, "num_processes=null");
  assign_text(config, "fsdp_config.fsdp_version=null");
  assign_text(config, "dynamo_config=null");
  CHECK_FALSE(config.num_processes);
  CHECK(to_json(config).find("config") == std::string::npos);
}

TEST_CASE("an assignment that makes no sense is named with the remedy") {
  struct Case {
    const char* assignment;
    const char* message;
  };
  for (const auto& [assignment, message] : std::vector<Case>{
           {"num_processes", "'num_processes' is not an assignment; write key=value"},
           {"num_proceses=2", "num_proceses=2: unknown key 'num_proceses'; did you mean num_processes?"},
           {"num_processes=two", "num_processes=two: num_processes is 'two'; it must be a whole number"},
           {"debug.x=1", "debug.x=1: debug is a single value, it has no 'x' inside"},
           {"mpirun_config.mpirun_hostfiel=x", "did you mean mpirun_hostfile?"},
           {"mpirun_config=x", "it must be a section"},
       }) {
    LaunchConfig config;
    CHECK_THROWS_WITH_AS(assign_text(config, assignment), doctest::Contains(message), ConfigError);
  }
}
