// Files that cannot be understood: each is told by its place and a remedy, at once.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "accelerate/config/launch_config.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/time_limit.h"

using namespace accelerate;
using namespace accelerate::config;
using accelerate::tests::TemporaryDirectory;

namespace {

struct BadFile {
  std::string text;
  std::string message;  // after the path of the file
  std::string name = "bad.yaml";
};

std::string repeat(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string message_of(const std::string& path) {
  try {
    read_launch_config(path);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

const std::vector<BadFile>& corpus() {
  static const std::string kType = "distributed_type: MULTI_CPU\n";
  static const std::vector<BadFile> kAll = {
      // What is missing
      {"", ": is empty; accelerate config creates one"},
      {"\n\n# nothing\n", ": is empty"},
      {"---\n", ": is empty"},
      {"null\n", ": is empty"},
      {"debug: true\n", ": has no distributed_type; add one"},
      {"{}", ": has no distributed_type", "bad.json"},
      // What is no map
      {"- a\n- b\n", ":1:1: a configuration consists of lines 'key: value'"},
      {"just words\n", ":1:1: a configuration consists of lines"},
      {"[1, 2]", ":1:1: a configuration consists of lines", "bad.json"},
      {kType + "---\n" + kType, ": contains more than one YAML document"},
      {",\n", ""},
      // Keys
      {kType + "num_proceses: 2\n", ":2:1: unknown key 'num_proceses'; did you mean num_processes?"},
      {kType + "mixed_precison: bf16\n", ":2:1: unknown key 'mixed_precison'; did you mean mixed_precision?"},
      {kType + "quantum_config: 7\n", ":2:1: unknown key 'quantum_config'; remove it, or update accelerate"},
      {kType + "debug: true\ndebug: false\n", ":3:1: duplicate key 'debug'; it is already on line 2"},
      {kType + "? [a, b]\n: c\n", ":2:3: a key must be a word"},
      {kType + "dynamo_config:\n  dynamo_backedn: NO\n", ":3:3: dynamo_config: unknown key 'dynamo_backedn'; did you "},
      {kType + "fsdp_config:\n  fsdp_version: 1\n  fsdp_version: 2\n", ":4:3: fsdp_config: duplicate key"},
      {R"({"distributed_type": "NO", "distributed_type": "NO"})", ":1:28: duplicate key", "bad.json"},
      // Types
      {kType + "num_processes: two\n", ":2:16: num_processes is 'two'; it must be a whole number"},
      {kType + "num_processes: '2'\n", ":2:16: num_processes is the string '2'; it must be a whole number without"},
      {kType + "num_processes: 2.5\n", ":2:16: num_processes is '2.5'; it must be a whole number"},
      {kType + "num_processes: [2]\n", ":2:16: num_processes is a list"},
      {kType + "num_processes: 99999999999999999999\n", "it must be a whole number"},
      {kType + "debug: maybe\n", ":2:8: debug is 'maybe'; it can be true or false"},
      {kType + "debug: 'false'\n", ":2:8: debug is the string 'false'; write true or false without quotes"},
      {kType + "use_cpu: 1\n", ":2:10: use_cpu is '1'; it can be true or false"},
      {kType + "main_process_ip: {a: b}\n", ":2:18: main_process_ip is a map; it must be a string"},
      {kType + "tpu_env: x\n", ":2:10: tpu_env is 'x'; it must be a list"},
      {kType + "tpu_env: [[x]]\n", "tpu_env is a list; it must be a list of strings"},
      {kType + "dynamo_config: INDUCTOR\n", ":2:16: dynamo_config is 'INDUCTOR'; it must be a section"},
      {kType + "dynamo_config:\n  dynamo_mode:\n    a: b\n",
       "dynamo_mode is a map; a section contains only single values"},
      {kType + "fsdp_config:\n  fsdp_version: 1.0e+999\n",
       ":3:17: fsdp_config: fsdp_version is 1.0e+999, which is too"},
      // Values
      {"distributed_type: MULTI_GPUS\n", ":1:19: distributed_type is 'MULTI_GPUS'; it can be NO, MULTI_CPU"},
      {"distributed_type: multi_cpu\n", "it can be NO, MULTI_CPU, "},
      {kType + "mixed_precision: fp17\n", "it can be no, fp16, bf16 or fp8; did you mean fp16?"},
      {kType + "num_processes: 0\n", ":2:16: num_processes is '0'; it must be at least 1"},
      {kType + "num_processes: -3\n", "num_processes is '-3'; it must be at least 1"},
      {kType + "num_machines: 0\n", "num_machines is '0'; it must be at least 1"},
      {kType + "machine_rank: -1\n", "machine_rank is '-1'; it must be at least 0"},
      {kType + "main_process_port: 70000\n", "main_process_port is '70000'; it can be at most 65535"},
      {"compute_environment: AMAZON_SAGEMAKER\ndistributed_type: NO\n", "only Python's Accelerate can start"},
      // Syntax, with the line and a mark
      {kType + "debug: [true\n", ":3:1: this is not YAML"},
      {kType + "debug: 'true\n", "write true or false without quotes"},
      {kType + "  debug: true\n", ":2:8: this is not YAML"},
      {kType + "debug: true: false\n", "this is not YAML"},
      {kType + "debug: @x\n", ":2:8: this is not YAML"},
      {kType + "debug: *unknown\n", ":2:8: this is not YAML"},
      {kType + "debug: %x\n", "this is not YAML"},
      {kType + "debug true\n", ":2:1: unknown key 'debug true'"},
      {R"({"distributed_type": "NO",})", ":1:27: this is not JSON", "bad.json"},
      {"distributed_type: NO\n", ":1:1: this is not JSON", "bad.json"},
      {R"({"distributed_type": "NO")", "this is not JSON", "bad.json"},
      {"", ": this is not JSON", "bad.json"},
      // Types by tags, which could ask for anything
      {kType + "debug: !!python/object/apply:os.system ['id']\n", "is not supported; write the plain value"},
      {kType + "debug: !ours true\n", "the tag !ours is not supported"},
      // Bombs
      {repeat("[", 30000), ":1:"},
      {repeat("{a: ", 15000), ":1:"},
      {repeat("- ", 15000), ":1:"},
      {repeat("[", 30000), ":1:", "bad.json"},
      {kType + "tpu_env: " + repeat("[", 20) + repeat("]", 20) + "\n", "nested too deep"},
      {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
       "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
       "too large for a configuration"},
      {"a: &a [*a]\n", ":1:8: this alias refers to a node that contains it"},
      {"a: " + std::string(100000, 'x') + "\n", ": is larger than 65536 bytes"},
  };
  return kAll;
}

}  // namespace

TEST_CASE("a bad file is told by its place and a remedy, in at most three lines and 50 ms") {
  TemporaryDirectory directory;
  CHECK(corpus().size() >= 40);
  for (const auto& [text, message, name] : corpus()) {
    auto path = directory.write(name, text);
    auto start = tests::cpu_time();
    auto told = message_of(path);
    auto took = tests::cpu_time() - start;
    CAPTURE(text.substr(0, 200));
    CHECK_MESSAGE(told.find(path) == 0, told);
    CHECK_MESSAGE(told.find(message) != std::string::npos, told);
    CHECK_MESSAGE(std::count(told.begin(), told.end(), '\n') <= 2, told);
    CHECK(told.size() < 1000);
    CHECK(took < tests::limit_of(std::chrono::milliseconds(50)));
  }
}

TEST_CASE("files that cannot be opened are told by their name") {
  TemporaryDirectory directory;
  CHECK(message_of(directory.path() / "none.yaml").find("none.yaml: no such file; accelerate config --config_file") !=
        std::string::npos);
  CHECK(message_of(directory.path()).find("this is a directory") != std::string::npos);
}

TEST_CASE("a mistake of syntax shows the line and marks the column") {
  TemporaryDirectory directory;
  auto path = directory.write("bad.yaml", "distributed_type: NO\ndebug: @x\n");
  auto told = message_of(path);
  CHECK_MESSAGE(told.ends_with("\n  debug: @x\n         ^"), told);
}

TEST_CASE("all mistakes of a file are told at once, the first three in words") {
  TemporaryDirectory directory;
  auto path = directory.write("bad.yaml", "debug: 7\nfoo: 1\nuse_cpu: x\nbar: 2\nnum_machines: 0\n");
  auto told = message_of(path);
  CHECK(told.find(path + ": has no distributed_type") == 0);
  CHECK(told.find(path + ":1:8: debug is '7'") != std::string::npos);
  CHECK(told.find(path + ":2:1: unknown key 'foo'") != std::string::npos);
  CHECK(told.ends_with("(and 3 more mistakes)"));
}

TEST_CASE("no damaged file brings the reader down") {
  TemporaryDirectory directory;
  std::mt19937 random(7);
  const std::string letters = "\n :-[]{}'\"&*!|>#%@`,?~\t\r\\0aN.";
  int rounds = getenv("ACCELERATE_TEST_FULL") ? 100000 : 2000;
  for (int round = 0; round < rounds; ++round) {
    auto text = corpus()[random() % corpus().size()].text.substr(0, 300);
    for (int change = random() % 4; change >= 0; --change) {
      text.insert(random() % (text.size() + 1), 1, letters[random() % letters.size()]);
    }
    auto path = directory.write(round % 2 ? "bad.yaml" : "bad.json", text);
    CAPTURE(text);
    CHECK_NOTHROW(message_of(path));
  }
}
