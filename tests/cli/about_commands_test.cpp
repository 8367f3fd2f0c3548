// What the command tells about the machine and about itself.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <chrono>
#include <set>

#include "accelerate/base/loopback_port.h"
#include "cli/checkup.h"
#include "cli/commands.h"
#include "tests/cli/command_run.h"

using namespace accelerate;
using namespace accelerate::cli;
using accelerate::tests::run;
using accelerate::tests::TemporaryDirectory;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

const std::string kBin = fs::path(ACCELERATE_COMMAND).parent_path().string();

/// What bash offers for a command line that is being typed.
std::set<std::string> bash_offers(const std::string& words, int current) {
  auto script = "source <(" ACCELERATE_COMMAND " completion bash)\nCOMP_WORDS=(" + words +
                ")\nCOMP_CWORD=" + std::to_string(current) + "\n_accelerate\nprintf '%s\\n' \"${COMPREPLY[@]}\"";
  auto result = run({"bash", "-c", script});
  CHECK(result.errors == "");
  std::istringstream lines(result.output);
  std::set<std::string> offers;
  for (std::string line; lines >> line;) offers.insert(line);
  return offers;
}

}  // namespace

TEST_CASE("env tells what an issue needs, and no secrets") {
  TemporaryDirectory directory;
  auto file = directory.write("config.yaml",
                              "distributed_type: MULTI_CPU\nnum_processes: 2\nuse_cpu: true\n"
                              "dynamo_config:\n  dynamo_backend: INDUCTOR\n");
  auto result = run({ACCELERATE_COMMAND, "env", "--config-file", file},
                    {{"ACCELERATE_API_TOKEN", "do-not-tell"}, {"ACCELERATE_DEBUG_MODE", "1"}, {"UNRELATED", "other"}});
  CHECK(result.exit_code == 0);
  for (auto text : {"- `Accelerate` version: ", "- Platform: Linux-", "- System RAM: ", "- CPU: ",
                    "- Processes on this machine: 2, threads of each: ", ", cores of each: any\n",
                    "- libtorch version: ", "\t- ACCELERATE_DEBUG_MODE=1\n", "\t- ACCELERATE_API_TOKEN=(hidden)\n",
                    "\t- distributed_type: MULTI_CPU\n\t- use_cpu: True\n\t- num_processes: 2\n\t- dynamo_config: "
                    "{'dynamo_backend': INDUCTOR}\n"}) {
    CHECK_MESSAGE(result.output.find(text) != std::string::npos, text, "\n", result.output);
  }
  CHECK(result.output.find("do-not-tell") == std::string::npos);
  CHECK(result.output.find("other") == std::string::npos);
  auto plain = run({ACCELERATE_COMMAND, "env"}, {{"HF_HOME", directory.path().string()}});
  CHECK(plain.output.ends_with("- `Accelerate` default config:\n\tNot found\n"));
}

TEST_CASE("doctor finds what is wrong, and is content when nothing is") {
  TemporaryDirectory directory;
  CHECK(check_config_file(directory.path() / "none.yaml").remedy == "");
  CHECK(check_config_file(directory.write("good.yaml", "distributed_type: NO\n")).remedy == "");
  CHECK(check_config_file(directory.write("old.yaml", "distributed_type: NO\nfp16: true\n")).remedy ==
        "run accelerate config update");
  CHECK(check_config_file(directory.write("bad.yaml", "x")).remedy.find("bad.yaml:1:1") != std::string::npos);
  {
    PatchEnvironment clean{{"RANK"}, {"LOCAL_RANK"}, {"WORLD_SIZE"}, {"MASTER_ADDR"}, {"MASTER_PORT"}};
    CHECK(check_rank_variables().remedy == "");
    PatchEnvironment rank{{"WORLD_SIZE", "2"}};
    CHECK(check_rank_variables().observation == "WORLD_SIZE is 2 in this shell");
  }
  {
    PatchEnvironment threads{{"OMP_NUM_THREADS", "100000"}};
    CHECK(check_threads().remedy.find("unset it") == 0);
  }
  {
    PatchEnvironment threads{{"OMP_NUM_THREADS", "1"}};
    CHECK(check_threads().remedy == "");
  }
  LoopbackPort port;
  port.listen();
  auto busy = check_port(port.number());
  CHECK(busy.observation.find(std::to_string(port.number())) != std::string::npos);
  CHECK(busy.remedy != "");
  int number = port.number();
  port.close();
  CHECK(check_port(number).remedy == "");
  CHECK(check_host_name("localhost").remedy == "");
  CHECK(check_host_name("no-such-host.invalid").remedy != "");
  CHECK(check_versions("").remedy == "");
  CHECK(check_versions("/bin/true").remedy.find("/bin/true") != std::string::npos);
  CHECK(check_shared_memory_size("/nowhere").remedy != "");
  PatchEnvironment empty{{"TMPDIR", ""}};
  CHECK(check_temporary_directory().observation.find("there is no directory") == std::string::npos);
  PatchEnvironment nowhere{{"TMPDIR", "/nowhere"}};
  CHECK(check_temporary_directory().observation == "there is no directory /nowhere for temporary files");
}

TEST_CASE("doctor tells shared memory in use from what ended jobs left behind") {
  TemporaryDirectory directory;
  CHECK(check_stale_shared_memory(directory.path()).remedy == "");
  auto used = directory.write("torch_used", std::string(4096, 'x'));
  int file = open(used.c_str(), O_RDWR);
  void* memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  directory.write("unrelated", "x");
  CHECK(check_stale_shared_memory(directory.path()).remedy == "");
  munmap(memory, 4096);
  auto stale = check_stale_shared_memory(directory.path());
  CHECK(stale.observation.find("1 file of ended jobs") == 0);
  CHECK(stale.remedy.find(used) != std::string::npos);
  CHECK(check_left_over_jobs(directory.path()).remedy == "");
  fs::create_directory(directory.path() / "accelerate_launch_abc");
  CHECK(check_left_over_jobs(directory.path()).observation.find("1 report of crashed jobs") == 0);
}

TEST_CASE("doctor tells a job that runs from one that has crashed") {
  TemporaryDirectory directory;
  tests::Program job({ACCELERATE_COMMAND, "launch", "--cpu", "-n", "2", "sh", "-c", "echo up; exec sleep 60"},
                     {{"TMPDIR", directory.path().string()}});
  REQUIRE(job.writes("up\nup\n"));
  auto finding = check_left_over_jobs(directory.path());
  CHECK(finding.observation == "no reports of crashed jobs in " + directory.path().string() + "; 1 job runs");
  CHECK(finding.remedy == "");
  auto doctor = run({ACCELERATE_COMMAND, "doctor"}, {{"TMPDIR", directory.path().string()}});
  CHECK_MESSAGE(doctor.output.find("ok      " + finding.observation + "\n") != std::string::npos, doctor.output);

  fs::create_directory(directory.path() / "accelerate_launch_crashed");
  auto both = check_left_over_jobs(directory.path());
  CHECK(both.observation == "1 report of crashed jobs in " + directory.path().string() + "; 1 job runs");
  CHECK(both.remedy.find("accelerate_launch_crashed") != std::string::npos);
  job.send_signal(SIGTERM);
  job.wait();
  CHECK(check_left_over_jobs(directory.path()).observation.find("1 report") == 0);
}

TEST_CASE("bash completes commands, flags, values and actions") {
  auto commands = bash_offers("accelerate ''", 1);
  for (auto name : {"config", "launch", "env", "estimate-memory", "merge-weights", "doctor", "completion"}) {
    CHECK(commands.contains(name));
  }
  CHECK(bash_offers("accelerate la", 1) == std::set<std::string>{"launch"});
  CHECK(bash_offers("accelerate launch --num_p", 2).contains("--num_processes"));
  CHECK(bash_offers("accelerate config --mixed_precision ''", 3) == std::set<std::string>{"no", "fp16", "bf16"});
  CHECK(bash_offers("accelerate launch --zero_stage ''", 3) == std::set<std::string>{"0", "1", "2"});
  CHECK(bash_offers("accelerate config d", 2) == std::set<std::string>{"default"});
  CHECK(bash_offers("accelerate completion ''", 2).contains("fish"));
}

TEST_CASE("help is taken apart as it was put together") {
  auto page =
      parse_help("x", "does x",
                 "Does x.\nUsage: accelerate x [OPTIONS] [action]\n\nPositionals:\n  action TEXT:{a,b}   What\n\n"
                 "Options:\n  -h,--help   Print it\n  -n,--number INT   It's [one]\n"
                 "  --a_very_long_name TEXT\n                 On the next line\n\nThe end.\n");
  REQUIRE(page.entries.size() == 4);
  CHECK(page.usage == "accelerate x [OPTIONS] [action]");
  CHECK(page.purpose == "Does x. The end.");
  CHECK(page.entries[0].choices == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(page.entries[0].is_flag());
  CHECK(page.entries[2].names == std::vector<std::string>{"-n", "--number"});
  CHECK(page.entries[2].value == "INT");
  CHECK(page.entries[3].meaning == "On the next line");

  CHECK(zsh_completion({page}).find("'--number[It'\\''s \\[one\\]]:value:_files'") != std::string::npos);
  CHECK(zsh_completion({page}).find("'1:action:(a b)'") != std::string::npos);
  CHECK(fish_completion({page}).find("-s n -l number -r -d 'It\\'s [one]'") != std::string::npos);
  CHECK(man_page(page).find("\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fIINT\\fR\nIt's [one]") != std::string::npos);
}

TEST_CASE("there is a manual page for every command, with every flag that --help has") {
  TemporaryDirectory directory;
  CHECK(run({ACCELERATE_COMMAND, "man-pages", directory.path().string()}).exit_code == 0);
  auto overview = directory.read("accelerate.1");
  for (const std::string command : {"config", "launch", "env", "estimate-memory", "merge-weights", "doctor"}) {
    auto page = directory.read("accelerate-" + command + ".1");
    auto help = run({ACCELERATE_COMMAND, command, "--help"}).output;
    for (auto dash = help.find(" --"); dash != std::string::npos; dash = help.find(" --", dash + 1)) {
      auto flag = help.substr(dash + 3, help.find_first_of(" ,=\n", dash + 3) - dash - 3);
      CHECK_MESSAGE(page.find("\\-\\-" + flag) != std::string::npos, command, " --", flag);
    }
    CHECK(page.find(".TH \"accelerate-" + command + "\" 1") == 0);
    CHECK(overview.find(command.substr(0, command.find('-'))) != std::string::npos);
  }
}

TEST_CASE("the command reference has every command, and every flag of these") {
  std::ifstream file(ACCELERATE_SOURCE_DIR "/docs/command_reference.md");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream lines(run({ACCELERATE_COMMAND, "--help"}).output);
  for (std::string line; std::getline(lines, line) && line != "Options:";) {
    if (!line.starts_with("  ")) continue;
    auto command = line.substr(2, line.find(' ', 2) - 2);
    CHECK_MESSAGE(text.find("\n## " + command + "\n") != std::string::npos, command);
  }
  for (const std::string command :
       {"config", "env", "estimate-memory", "merge-weights", "notebook", "to-fsdp2", "doctor"}) {
    auto page = parse_help(command, "", run({ACCELERATE_COMMAND, command, "--help"}).output);
    for (const auto& entry : page.entries) {
      bool documented = !entry.is_flag() || entry.names.back() == "--help" ||
                        text.find("`" + entry.names.back()) != std::string::npos;
      CHECK_MESSAGE(documented, command, " ", entry.names.back());
    }
  }
}

TEST_CASE("the list of commands says which one is not supported") {
  const auto help = run({ACCELERATE_COMMAND, "--help"}).output;
  const auto line = help.find("  tpu-config ");
  REQUIRE(line != std::string::npos);
  CHECK(help.substr(line, help.find('\n', line) - line).find("not supported") != std::string::npos);
}

TEST_CASE("output that cannot be written is an error") {
  auto full = run({"/bin/sh", "-c", std::string(ACCELERATE_COMMAND) + " config schema > /dev/full"});
  CHECK(full.exit_code == 1);
  CHECK(full.errors == "accelerate config: standard output cannot be written; is the disk full?\n");
}

TEST_CASE("a link called accelerate-config is accelerate config") {
  auto by_link = run({kBin + "/accelerate-config", "--help"});
  CHECK(by_link.exit_code == 0);
  CHECK(by_link.output == run({ACCELERATE_COMMAND, "config", "--help"}).output);
  CHECK(run({kBin + "/accelerate-launch", "--no_such_flag"}).errors.find("accelerate launch: unknown flag") == 0);
}
