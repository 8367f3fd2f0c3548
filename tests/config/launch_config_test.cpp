#include "accelerate/config/launch_config.h"

#include <doctest/doctest.h>

#include "accelerate/base/environment.h"
#include "accelerate/config/write_config.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::config;
using accelerate::tests::TemporaryDirectory;

namespace {

constexpr const char* kTwoMachines = R"(compute_environment: LOCAL_MACHINE
debug: false
distributed_type: MULTI_GPU
downcast_bf16: 'no'
enable_cpu_affinity: false
gpu_ids: all
machine_rank: 1
main_process_ip: 10.0.0.1
main_process_port: 29501
main_training_function: main
mixed_precision: 'no'
num_machines: 2
num_processes: 8
rdzv_backend: c10d
same_network: false
tpu_env: []
tpu_use_cluster: false
tpu_use_sudo: false
use_cpu: false
)";

LaunchConfig read(const std::string& text, const std::string& name = "config.yaml") {
  TemporaryDirectory directory;
  return read_launch_config(directory.write(name, text));
}

}  // namespace

TEST_CASE("a file has its keys, and a key it does not have is empty") {
  auto config = read(kTwoMachines);
  CHECK(config.distributed_type == "MULTI_GPU");
  CHECK(config.mixed_precision == "no");
  CHECK(config.downcast_bf16 == "no");
  CHECK(config.use_cpu == false);
  CHECK(config.num_processes == 8);
  CHECK(config.machine_rank == 1);
  CHECK(config.main_process_ip == "10.0.0.1");
  CHECK(config.main_process_port == 29501);
  CHECK(config.tpu_env == std::vector<std::string>{});
  CHECK_FALSE(config.tpu_name);
  CHECK(config.fsdp_config.empty());
  CHECK(config.upgrades.empty());
}

TEST_CASE("what was read is written the same, byte for byte") { CHECK(to_yaml(read(kTwoMachines)) == kTwoMachines); }

TEST_CASE("the origin of a key is its file and line") {
  auto config = read("distributed_type: MULTI_CPU\nnum_processes: 2\ndynamo_config:\n  dynamo_backend: INDUCTOR\n");
  CHECK(config.origin("num_processes") == config.file.string() + ":2");
  CHECK(config.origin("dynamo_config.dynamo_backend") == config.file.string() + ":4");
  CHECK(config.origin("debug") == "");
}

TEST_CASE("JSON is read from .json files, and from .yaml files too") {
  std::string text = R"({"distributed_type": "NO", "use_cpu": true, "num_processes": 1, "mpirun_config": {"a": "b"}})";
  for (auto name : {"config.json", "config.yaml"}) {
    auto config = read(text, name);
    CHECK(config.distributed_type == "NO");
    CHECK(config.use_cpu == true);
    CHECK(config.num_processes == 1);
    CHECK(std::get<std::string>(config.mpirun_config.at("a")) == "b");
  }
}

TEST_CASE("an unquoted NO is the text, though YAML 1.1 calls it false") {
  auto config = read("distributed_type: NO\nmixed_precision: no\ndowncast_bf16: false\nuse_cpu: yes\n");
  CHECK(config.distributed_type == "NO");
  CHECK(config.mixed_precision == "no");
  CHECK(config.downcast_bf16 == "no");
  CHECK(config.use_cpu == true);
}

TEST_CASE("null and Python's -1 processes leave a key empty") {
  auto config = read("distributed_type: MULTI_GPU\nnum_processes: -1\ngpu_ids: null\ntpu_name:\ntpu_zone: ~\n");
  CHECK_FALSE(config.num_processes);
  CHECK_FALSE(config.gpu_ids);
  CHECK_FALSE(config.tpu_name);
  CHECK_FALSE(config.tpu_zone);
  CHECK(config.origin("num_processes") == "");
}

TEST_CASE("a section keeps the types of its values") {
  auto section = read(R"(distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_offload_params: false
  fsdp_transformer_layer_cls_to_wrap: null
  some_ratio: 0.5
  some_text: '2'
  some_list: [a, b]
)")
                     .fsdp_config;
  CHECK(std::get<int64_t>(section.at("fsdp_version")) == 2);
  CHECK(std::get<bool>(section.at("fsdp_offload_params")) == false);
  CHECK(std::holds_alternative<std::monostate>(section.at("fsdp_transformer_layer_cls_to_wrap")));
  CHECK(std::get<double>(section.at("some_ratio")) == 0.5);
  CHECK(std::get<std::string>(section.at("some_text")) == "2");
  CHECK(std::get<std::vector<std::string>>(section.at("some_list")) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("files of older versions are upgraded, with a sentence for each change") {
  auto oldest = read("compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nfp16: true\nnum_processes: 2\n");
  CHECK(oldest.mixed_precision == "fp16");
  CHECK(oldest.upgrades.size() == 1);
  CHECK(read("distributed_type: NO\nfp16: false\n").mixed_precision == "no");
  CHECK(read("distributed_type: NO\nfp16: true\nmixed_precision: bf16\n").mixed_precision == "bf16");

  auto dynamo = read("distributed_type: NO\ndynamo_backend: INDUCTOR\n");
  CHECK(std::get<std::string>(dynamo.dynamo_config.at("dynamo_backend")) == "INDUCTOR");
  CHECK(dynamo.origin("dynamo_config") == dynamo.file.string() + ":2");
  CHECK(read("distributed_type: NO\ndynamo_backend: 'NO'\n").dynamo_config.empty());

  CHECK(read("distributed_type: TPU\n").distributed_type == "XLA");
  auto ipex = read("distributed_type: MULTI_CPU\nipex_config:\n  ipex: true\nuse_xpu: false\n");
  CHECK(ipex.upgrades.size() == 2);
}

TEST_CASE("a byte order mark, carriage returns, comments and references are read") {
  auto config = read("\xEF\xBB\xBF# ours\r\ndistributed_type: &type MULTI_CPU  # two\r\nnum_processes: 2\r\n");
  CHECK(config.distributed_type == "MULTI_CPU");
  CHECK(config.num_processes == 2);
  CHECK(read("distributed_type: MULTI_CPU\ntpu_name: &n x\ntpu_zone: *n\n").tpu_zone == "x");
}

TEST_CASE("the default file follows HF_HOME, then XDG_CACHE_HOME, then the home directory") {
  {
    PatchEnvironment patch{{"HF_HOME", "/a"}, {"XDG_CACHE_HOME", "/b"}, {"HOME", "/c"}};
    CHECK(default_config_file() == "/a/accelerate/default_config.yaml");
  }
  {
    PatchEnvironment patch{{"HF_HOME", std::nullopt}, {"XDG_CACHE_HOME", "/b"}, {"HOME", "/c"}};
    CHECK(default_config_file() == "/b/huggingface/accelerate/default_config.yaml");
  }
  {
    PatchEnvironment patch{{"HF_HOME", ""}, {"XDG_CACHE_HOME", std::nullopt}, {"HOME", "/c"}};
    CHECK(default_config_file() == "/c/.cache/huggingface/accelerate/default_config.yaml");
  }
  {
    PatchEnvironment patch{{"HF_HOME", "~/hf"}, {"HOME", "/c"}};
    CHECK(default_config_file() == "/c/hf/accelerate/default_config.yaml");
  }
}

TEST_CASE("a file is written with the directories above it, and replaced as a whole") {
  TemporaryDirectory directory;
  auto path = directory.path() / "a" / "b" / "config.yaml";
  write_launch_config({.distributed_type = "NO"}, path);
  write_launch_config({.distributed_type = "MULTI_CPU"}, path);
  CHECK(read_launch_config(path).distributed_type == "MULTI_CPU");
  CHECK(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}) == 1);
  CHECK_THROWS_WITH_AS(write_launch_config({}, "/proc/nowhere/config.yaml"),
                       doctest::Contains("/proc/nowhere: cannot be created: No such file or directory"), Error);
}
