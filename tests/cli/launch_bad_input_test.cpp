// What a user gets for a command line of `accelerate launch` that cannot be meant: at most three lines, exit code 2,
// and no waiting.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>

#include "accelerate/base/loopback_port.h"
#include "tests/cli/command_run.h"
#include "tests/support/time_limit.h"

using namespace accelerate;
using accelerate::tests::Run;
using namespace std::chrono_literals;

namespace {

using Words = std::vector<std::string>;

struct Case {
  Words words;        // after `accelerate launch`
  const char* names;  // the thing, its value or the remedy, whichever is least expected
};

/// What the commands run so far have computed, with the processes they started.
std::chrono::microseconds cpu_time_of_commands() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  auto microseconds = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

void check_refused(const Case& example, const std::vector<EnvironmentVariable>& environment = {}) {
  Words words = {"launch"};
  words.insert(words.end(), example.words.begin(), example.words.end());
  auto before = cpu_time_of_commands();
  Run run(words, environment);
  auto computed = cpu_time_of_commands() - before;
  std::string line;
  for (const auto& word : words) line += " " + word;
  INFO("accelerate" << line << "\n" << run.errors);
  CHECK(run.exit_code == 2);
  CHECK(run.output == "");
  CHECK(tests::count_lines(run.errors) >= 1);
  CHECK(tests::count_lines(run.errors) <= 3);
  CHECK(run.errors.starts_with("accelerate launch: "));
  CHECK(run.errors.find(example.names) != std::string::npos);
  CHECK(computed < tests::limit_of(50ms));
}

}  // namespace

TEST_CASE("flags that are not there are answered with the ones that are") {
  for (const auto& example : std::vector<Case>{
           {{"--num_proceses", "2", "ls"}, "did you mean --num_processes?"},
           {{"--num-proceses=2", "ls"}, "did you mean --num_processes?"},
           {{"--mixed_precison", "no", "ls"}, "did you mean --mixed_precision?"},
           {{"--main_proces_ip", "x", "ls"}, "did you mean --main_process_ip?"},
           {{"--cpus", "ls"}, "did you mean --cpu?"},
           {{"--moduel", "x"}, "did you mean --module?"},
           {{"--quite", "ls"}, "did you mean --quiet?"},
           {{"--show_confg"}, "did you mean --show_config?"},
           {{"--max_restart", "1", "ls"}, "did you mean --max_restarts?"},
           {{"--log-dirs", "x", "ls"}, "did you mean --log_dir?"},
           {{"--something", "ls"}, "unknown flag --something"},
           {{"-x", "ls"}, "unknown flag -x"},
           {{"--use_deepspeed", "ls"}, "DeepSpeed"},
           {{"--zero3_init_flag", "true", "ls"}, "DeepSpeed"},
           {{"--zero_stage", "1", "train.py"}, "DeepSpeed"},
           {{"--megatron_lm_tp_degree", "2", "ls"}, "Megatron-LM"},
           {{"--tpu", "ls"}, "TPU"},
           {{"--aws_access_key_id", "x", "ls"}, "SageMaker"},
           {{"--fp8_backend", "te", "ls"}, "fp8"},
       }) {
    check_refused(example);
  }
}

TEST_CASE("values that cannot be meant are refused with those that can") {
  for (const auto& example : std::vector<Case>{
           {{"--num_processes", "two", "ls"}, "--num_processes is 'two'; it must be a whole number"},
           {{"--num_processes", "2.5", "ls"}, "'2.5'"},
           {{"--num_processes=", "ls"}, "--num_processes is ''"},
           {{"--num_processes", "0", "ls"}, "--num_processes is 0; it must be at least 1"},
           {{"-n", "-3", "ls"}, "--num_processes is -3"},
           {{"-n", "99999999999999", "ls"}, "whole number"},
           {{"--num_processes"}, "--num_processes needs a value"},
           {{"--mixed_precision", "fp17", "ls"}, "it can be no, fp16 or bf16"},
           {{"--mixed_precision", "fp8", "ls"}, "it can be no, fp16 or bf16"},
           {{"--zero_stage", "3", "ls"}, "--zero_stage is '3'; it can be 0, 1 or 2"},
           {{"--show_config=some", "ls"}, "--show_config is 'some'; it can be all, true or false"},
           {{"--num_machines", "0", "ls"}, "--num_machines is 0"},
           {{"--machine_rank", "1", "ls"}, "--machine_rank is 1"},
           {{"--num_machines", "2", "-n", "3", "ls"}, "does not divide"},
           {{"--num_machines", "2", "-n", "2", "ls"}, "--main_process_ip"},
           {{"--num_machines", "2", "-n", "2", "--main_process_ip", "10.0.0.1", "ls"}, "--main_process_port"},
           {{"--main_process_port", "70000", "ls"}, "--main_process_port is 70000"},
           {{"--main_process_port", "http", "ls"}, "whole number"},
           {{"--gpu_ids", "0;1", "ls"}, "--gpu_ids is '0;1'"},
           {{"--multi_gpu", "-n", "1", "ls"}, "--num_processes is 1; it must be at least 2"},
           {{"--max_restarts", "-1", "ls"}, "--max_restarts is -1"},
           {{"--shutdown_timeout", "soon", "ls"}, "number of seconds"},
           {{"--monitor_interval", "-1", "ls"}, "number of seconds"},
           {{"--tee", "4", "ls"}, "--tee is '4'"},
           {{"-r", "0:9", "ls"}, "--redirects is '0:9'"},
           {{"--rdzv_backend", "etcd", "ls"}, "static or c10d"},
           {{"--rdzv_conf", "timeout", "ls"}, "key=value"},
           {{"--rdzv_conf", "timeout=long", "ls"}, "number of seconds"},
           {{"--wait_for_debugger", "5", "ls"}, "--wait_for_debugger is 5"},
           {{"--gradient_accumulation_steps", "0", "ls"}, "at least 1"},
           {{"--num_cpu_threads_per_process", "0", "ls"}, "at least 1"},
           {{"--dynamo_backend", "inductor", "ls"}, "torch.compile is for Python programs"},
           {{"--use_fsdp", "ls"}, "for Python programs"},
           {{"--cpu=perhaps", "ls"}, "true or false"},
           {{"-m", "--no_python", "x"}, "contradict"},
       }) {
    check_refused(example);
  }
  check_refused({{"ls"}, "ACCELERATE_NUM_PROCESSES is 'many'"}, {{"ACCELERATE_NUM_PROCESSES", "many"}});
  check_refused({{"ls"}, "ACCELERATE_USE_CPU is 'perhaps'"}, {{"ACCELERATE_USE_CPU", "perhaps"}});
}

TEST_CASE("programs, files and ports that are not there are named") {
  tests::TemporaryDirectory directory;
  auto plain = directory.write("plain", "text");
  auto broken = directory.write("broken", "neither program nor script");
  std::filesystem::permissions(broken, std::filesystem::perms::owner_all);
  LoopbackPort busy;
  busy.listen();
  auto port = std::to_string(busy.number());
  auto own_pid = "pid " + std::to_string(getpid());
  for (const auto& example : std::vector<Case>{
           {{}, "no program to run"},
           {{"-n", "2"}, "no program to run"},
           {{"-n", "2", "./no_such_program"}, "'./no_such_program' does not exist"},
           {{"no_such_program"}, "nor in PATH"},
           {{"missing.py"}, "'missing.py' does not exist"},
           {{plain}, "is not executable"},
           {{directory.path().string()}, "is a directory"},
           {{"-n", "2", broken}, "cannot be executed"},
           {{"--config_file", "nowhere.yaml", "ls"}, "nowhere.yaml"},
           {{"--config_file", directory.path().string(), "ls"}, directory.path().c_str()},
           {{"--config_file", directory.write("empty.yaml", ""), "ls"}, "empty.yaml"},
           {{"--config_file", directory.write("keys.yaml", "distributed_type: NO\nnum_procesess: 2\n"), "ls"},
            "num_processes"},
           {{"--config_file", directory.write("type.yaml", "distributed_type: 'NO'\nnum_processes: two\n"), "ls"},
            "type.yaml:2"},
           {{"--config_file", directory.write("ds.yaml", "distributed_type: DEEPSPEED\nnum_processes: 2\n"), "ls"},
            "ds.yaml:1"},
           {{"--log_dir", plain + "/logs", "ls"}, "--log_dir"},
           {{"--main_process_port", port, "ls"}, port.c_str()},
           {{"--main_process_port", port, "ls"}, own_pid.c_str()},
           {{"--num_machines", "2", "-n", "2", "--machine_rank", "1", "--main_process_ip", "no.such.host.invalid",
             "--main_process_port", "29500", "ls"},
            "cannot be resolved"},
       }) {
    check_refused(example);
  }
}

TEST_CASE("more processes than the machine can hold are refused with the limit") {
  check_refused({{"-n", "2000000000", "ls"}, "--num_processes is 2000000000, but there is room for "});
  check_refused({{"-n", "2000000000", "ls"}, ". Start fewer, or "});
  check_refused({{"-n", "2", "ls"}, "TMPDIR is '/nonexistent'"}, {{"TMPDIR", "/nonexistent"}});
  CHECK(tests::run({ACCELERATE_COMMAND, "launch", "-n", "2", "true"}, {{"TMPDIR", ""}}).exit_code == 0);
  auto limited = "ulimit -n 12 && exec " ACCELERATE_COMMAND " launch -n 2 ls";
  auto run = tests::run({"sh", "-c", limited});
  CHECK(run.exit_code == 2);
  for (auto part :
       {"but there is room for 0: the limit on open files of a process (ulimit -n) is 12, and ",
        " are in use; the launcher takes 10 more; each process takes at least 5. Not even one fits: raise it"}) {
    CHECK_MESSAGE(run.errors.find(part) != std::string::npos, run.errors);
  }
}

TEST_CASE("a soft limit on open files is no obstacle, and the ranks have it still") {
  auto run = tests::run({"sh", "-c", "ulimit -S -n 60 && exec " ACCELERATE_COMMAND " launch -n 20 sh -c 'ulimit -n'"});
  CHECK_MESSAGE(run.exit_code == 0, run.errors);
  std::string expected;
  for (int i = 0; i < 20; ++i) expected += "60\n";
  CHECK(run.output == expected);
}

TEST_CASE("values of flags that are not there stay out of the message: they may be secrets") {
  for (auto word : {"--aws_secret_access_key=hunter2", "--hf_tokn=hunter2", "--num_procesess=hunter2", "-xhunter2"}) {
    auto run = Run({"launch", word, "ls"});
    CHECK(run.exit_code == 2);
    CHECK_MESSAGE((run.output + run.errors).find("hunter2") == std::string::npos, run.errors);
  }
}

TEST_CASE("a file without an end is no configuration") {
  check_refused({{"--config_file", "/dev/zero", "ls"}, "/dev/zero: is larger than 65536 bytes"});
}

TEST_CASE("nine of ten slips of the finger in a flag are answered with the flag that was meant") {
  int right = 0, asked = 0;
  for (const std::string flag :
       {"num_processes", "num_machines", "machine_rank", "main_process_port", "mixed_precision", "gpu_ids",
        "max_restarts", "monitor_interval", "config_file", "no_python"}) {
    auto missing = flag, doubled = flag, wrong = flag, swapped = flag;
    missing.erase(4, 1);
    doubled.insert(3, 1, flag[3]);
    wrong[5] = wrong[5] == 'q' ? 'x' : 'q';
    std::swap(swapped[1], swapped[2]);
    for (const auto& typo : {missing, doubled, wrong, swapped}) {
      ++asked;
      right += Run({"launch", "--" + typo, "1", "ls"}).errors.find("did you mean --" + flag + "?") != std::string::npos;
    }
  }
  CHECK(asked == 40);
  CHECK(right >= 36);
}
