#include "cli/questionnaire.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/config/write_config.h"
#include "accelerate/launch/machines/network.h"
#include "accelerate/launch/settings/launch_options.h"
#include "accelerate/launch/settings/settings.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::cli;

namespace {

/// Answers a question that begins with a known text; every other one with its preset.
class ScriptedPrompt : public Prompt {
 public:
  explicit ScriptedPrompt(std::map<std::string, std::string> answers) : answers_(std::move(answers)) {}

  size_t choose(const std::string& question, const std::vector<std::string>& options, size_t preset) override {
    auto answer = answer_to(question, std::to_string(preset));
    REQUIRE(std::stoul(answer) < options.size());
    return std::stoul(answer);
  }
  std::string ask(const std::string& question, const std::string& preset) override {
    return answer_to(question, preset);
  }
  void say(const std::string& sentence) override { said += sentence + "\n"; }

  std::vector<std::string> asked;
  std::string said;

  /// The answers to questions that never came.
  std::set<std::string> unused() const {
    std::set<std::string> left;
    for (const auto& [question, answer] : answers_) {
      if (!used_.contains(question)) left.insert(question);
    }
    return left;
  }

 private:
  std::string answer_to(const std::string& question, const std::string& preset) {
    asked.push_back(question);
    for (const auto& [begin, answer] : answers_) {
      if (!question.starts_with(begin)) continue;
      used_.insert(begin);
      return answer;
    }
    return preset;
  }

  std::map<std::string, std::string> answers_;
  std::set<std::string> used_;
};

/// The file of someone who accepts every preset, with some lines changed, added or (ending in "-") taken out.
std::string usual_file_with(const std::vector<std::string>& changes) {
  std::map<std::string, std::string> blocks;
  std::istringstream usual(
      "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: 'NO'\ndowncast_bf16: 'no'\n"
      "enable_cpu_affinity: false\ngpu_ids: all\nmachine_rank: 0\nmain_training_function: main\n"
      "mixed_precision: 'no'\nnum_machines: 1\nnum_processes: 1\nrdzv_backend: static\nsame_network: true\n"
      "tpu_env: []\ntpu_use_cluster: false\ntpu_use_sudo: false\nuse_cpu: false\n");
  for (std::string line; std::getline(usual, line);) blocks[line.substr(0, line.find(':'))] = line + "\n";
  for (const auto& change : changes) {
    auto key = change.substr(0, change.find(':'));
    change.ends_with(":-") ? blocks.erase(key) : (blocks[key] = change + "\n").size();
  }
  std::string text;
  for (const auto& [key, block] : blocks) text += block;
  return text;
}

constexpr const char* kMachine = "What does it compute on?";

/// Takes a path through the questions: the answers that differ from pressing Enter, by the number of the question. It
/// notes what else could have been answered at each.
class PathPrompt : public Prompt {
 public:
  using Path = std::map<size_t, std::string>;

  explicit PathPrompt(Path path) : path_(std::move(path)) {}

  size_t choose(const std::string& question, const std::vector<std::string>& options, size_t preset) override {
    std::vector<std::string> numbers;
    for (size_t i = 0; i < options.size(); ++i) numbers.push_back(std::to_string(i));
    return std::stoul(answer(question, std::to_string(preset), numbers));
  }
  std::string ask(const std::string& question, const std::string& preset) override {
    if (question.ends_with("(yes/no)")) return answer(question, preset, {"yes", "no"});
    if (question.starts_with("How many machines")) return answer(question, preset, {"1", "2", "3"});
    if (question.starts_with("How do the machines")) return answer(question, preset, {"static", "c10d"});
    if (question.starts_with("What is the address") && preset.empty()) return answer(question, "10.0.0.1", {});
    return answer(question, preset, {});
  }
  void say(const std::string& sentence) override {
    CHECK_MESSAGE(sentence.find("Continuing without it") != std::string::npos, sentence, described());
  }

  /// The paths that go one answer further from Enter, behind the last that already does.
  std::vector<Path> branches() const {
    std::vector<Path> all;
    for (size_t i = path_.empty() ? 0 : path_.rbegin()->first + 1; i < others_.size(); ++i) {
      for (const auto& other : others_[i]) {
        all.push_back(path_);
        all.back()[i] = other;
      }
    }
    return all;
  }

  std::string described() const { return "\n" + text_; }

 private:
  std::string answer(const std::string& question, const std::string& preset, std::vector<std::string> options) {
    std::erase(options, preset);
    auto chosen = path_.find(others_.size());
    others_.push_back(options);
    auto given = chosen == path_.end() ? preset : chosen->second;
    text_ += question + ": " + given + "\n";
    return given;
  }

  Path path_;
  std::vector<std::vector<std::string>> others_;
  std::string text_;
};

/// What launch says to a file that it reads, for a program that may use all of it; empty when it takes it.
std::string refusal_of(const std::string& file) {
  try {
    launch::Settings settings({launch::settings_of_config(config::read_launch_config(file))});
    auto options = launch::options_of(settings, 0);
    options.program = "train.py";
    check(options);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Answers that have to end in an Error, because only Python can serve them.
bool is_refused_by_design(const std::string& error) {
  for (auto part : {"Amazon SageMaker", "a TPU needs", "fp8 needs", "FSDP does not run on Neuron"}) {
    if (error.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every path through the questions that ends with Enter writes a file that launch takes") {
  tests::TemporaryDirectory directory;
  auto file = (directory.path() / "config.yaml").string();
  std::vector<PathPrompt::Path> paths = {{}};
  int num_files = 0, num_refused = 0;
  while (!paths.empty()) {
    auto path = paths.back();
    paths.pop_back();
    PathPrompt prompt(path);
    try {
      directory.write("config.yaml", config::to_yaml(ask_configuration(prompt)));  // without the fsync of the command
    } catch (const Error& error) {
      CHECK_MESSAGE(is_refused_by_design(error.what()), error.what(), prompt.described());
      ++num_refused;
      continue;
    }
    ++num_files;
    auto refusal = refusal_of(file);
    CHECK_MESSAGE(refusal == "", refusal, prompt.described());
    if (path.size() == 3) continue;  // answers that differ from Enter; more of them meet no new question
    for (auto& branch : prompt.branches()) paths.push_back(std::move(branch));
  }
  CHECK(num_files > 500);
  CHECK(num_refused > 10);
}

TEST_CASE("Enter at every question of two machines gives one process on each") {
  for (std::string machine : {"1", "4", "9"}) {
    ScriptedPrompt prompt({{kMachine, machine}, {"How many machines", "2"}});
    auto config = ask_configuration(prompt);
    CHECK(config.num_processes == 2);
    CHECK(config.main_process_port == 29500);
    CHECK(config.main_process_ip == launch::own_address());
  }
  ScriptedPrompt gpus(std::map<std::string, std::string>{{kMachine, "4"}});
  CHECK(ask_configuration(gpus).num_processes == 2);
}

TEST_CASE("an answer that launch would refuse is asked for again") {
  /// Gives its answers one after the other.
  struct Impatient : ScriptedPrompt {
    using ScriptedPrompt::ScriptedPrompt;
    std::string ask(const std::string& question, const std::string& preset) override {
      if (question.starts_with("How many GPUs")) return num_asked++ == 0 ? "3" : "4";
      if (question.starts_with("How do")) return num_asked_how++ == 0 ? "etcd" : "c10d";
      return ScriptedPrompt::ask(question, preset);
    }
    int num_asked = 0, num_asked_how = 0;
  };
  Impatient prompt({{kMachine, "4"}, {"How many machines", "2"}, {"Are all machines", "no"}});
  auto config = ask_configuration(prompt);
  CHECK(config.num_processes == 4);
  CHECK(config.rdzv_backend == "c10d");
  CHECK(prompt.said ==
        "'etcd' is not known here; it can be static or c10d.\nEvery machine has the same number: it must be a "
        "multiple of 2.\n");
}

TEST_CASE("answers become the file that Python's questionnaire writes for them") {
  struct Case {
    std::map<std::string, std::string> answers;
    std::vector<std::string> changes;
  };
  PatchEnvironment home{{"HOME", "/elsewhere"}};
  for (const auto& [answers, changes] : std::vector<Case>{
           {{}, {}},
           {{{"Use the CPU", "yes"}, {"Which mixed", "2"}}, {"use_cpu: true", "mixed_precision: bf16", "gpu_ids:-"}},
           {{{kMachine, "1"}, {"How many processes", "4"}},
            {"distributed_type: MULTI_CPU", "num_processes: 4", "use_cpu: true", "gpu_ids:-"}},
           {{{kMachine, "1"}, {"Start the processes with mpirun", "yes"}, {"How many processes", "4"}},
            {"distributed_type: MULTI_CPU", "mpirun_config:\n  mpirun_hostfile: /elsewhere/hostfile",
             "num_processes: 4", "use_cpu: true", "gpu_ids:-"}},
           {{{kMachine, "4"}, {"How many GPUs", "2"}, {"Which mixed", "1"}},
            {"distributed_type: MULTI_GPU", "num_processes: 2", "mixed_precision: fp16"}},
           {{{kMachine, "4"},
             {"How many machines", "2"},
             {"What is the rank", "1"},
             {"What is the address", "10.0.0.1"},
             {"Which port", "29501"},
             {"Are all machines", "no"},
             {"How do the machines", "c10d"},
             {"How many GPUs", "8"}},
            {"distributed_type: MULTI_GPU", "machine_rank: 1", "main_process_ip: 10.0.0.1", "main_process_port: 29501",
             "num_machines: 2", "num_processes: 8", "rdzv_backend: c10d", "same_network: false"}},
           {{{kMachine, "4"}, {"Shard the model", "yes"}, {"How many GPUs", "2"}},
            {"distributed_type: FSDP",
             "fsdp_config:\n  fsdp_activation_checkpointing: false\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
             "  fsdp_cpu_ram_efficient_loading: true\n  fsdp_offload_params: false\n"
             "  fsdp_reshard_after_forward: true\n  fsdp_state_dict_type: SHARDED_STATE_DICT\n"
             "  fsdp_transformer_layer_cls_to_wrap: null\n  fsdp_version: 2",
             "num_processes: 2", "gpu_ids:-"}},
           {{{kMachine, "4"}, {"Use torch.compile", "yes"}, {"How many GPUs", "2"}},
            {"distributed_type: MULTI_GPU", "dynamo_config:\n  dynamo_backend: INDUCTOR", "num_processes: 2"}},
       }) {
    ScriptedPrompt prompt(answers);
    CHECK(config::to_yaml(ask_configuration(prompt)) == usual_file_with(changes));
    CHECK(prompt.unused().empty());
  }
}

TEST_CASE("questions come in the order and under the conditions of Python's") {
  using Questions = std::vector<std::string>;
  auto asked = [](const std::map<std::string, std::string>& answers) {
    ScriptedPrompt prompt(answers);
    ask_configuration(prompt);
    Questions first_words;
    for (const auto& question : prompt.asked) {
      std::istringstream words(question);
      std::string first, second;
      words >> first >> second;
      first_words.push_back(first + " " + second);
    }
    return first_words;
  };
  CHECK(asked({}) == Questions{"Where does", "What does", "Use the", "Use torch.compile", "Use DeepSpeed?",
                               "Which GPUs", "Bind each", "Which mixed"});
  CHECK(asked({{"Use the CPU", "yes"}}) ==
        Questions{"Where does", "What does", "Use the", "Use torch.compile", "Use DeepSpeed?", "Which mixed"});
  CHECK(asked({{kMachine, "1"}}) == Questions{"Where does", "What does", "How many", "Check the", "Start the",
                                              "Use torch.compile", "How many", "Which mixed"});
  CHECK(asked({{kMachine, "4"}, {"How many GPUs", "2"}}) ==
        Questions{"Where does", "What does", "How many", "Check the", "Use torch.compile", "Use DeepSpeed?",
                  "Shard the", "Use Megatron-LM?", "How many", "Which GPUs", "Bind each", "Which mixed"});
  CHECK(asked({{kMachine, "5"}}) == Questions{"Where does", "What does", "How many", "Check the", "Use torch.compile",
                                              "Use DeepSpeed?", "Shard the", "How many", "Which NPUs", "Which mixed"});
}

TEST_CASE("every backend of torch.compile that can be chosen can be launched with") {
  auto backends = launch::find_launch_flag("dynamo_backend")->choices;
  for (size_t i = 0; i + 1 < backends.size(); ++i) {  // all but no
    ScriptedPrompt prompt({{"Use torch.compile", "yes"}, {"With which", std::to_string(i)}});
    launch::Settings settings({launch::settings_of_config(ask_configuration(prompt))});
    CHECK(settings.text("dynamo_backend") == backends[i + 1]);
  }
}

TEST_CASE("what only Python can serve is said") {
  auto run = [](const std::map<std::string, std::string>& answers) {
    ScriptedPrompt prompt(answers);
    ask_configuration(prompt);
    return prompt.said;
  };
  CHECK_THROWS_WITH_AS(run({{"Where", "1"}}), doctest::Contains("SageMaker"), Error);
  CHECK_THROWS_WITH_AS(run({{kMachine, "10"}}), doctest::Contains("TPU"), Error);
  CHECK_THROWS_WITH_AS(run({{"Which mixed", "3"}}), doctest::Contains("fp8"), Error);
  CHECK_THROWS_WITH_AS(run({{kMachine, "4"}, {"How many GPUs", "1"}}),
                       doctest::Contains("a single GPU is not a distributed job"), Error);
  CHECK(run({{"Use DeepSpeed", "yes"}}).find("Continuing without it") != std::string::npos);
}
