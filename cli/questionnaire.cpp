#include "cli/questionnaire.h"

#include <algorithm>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/launch/machines/network.h"
#include "accelerate/launch/settings/launch_flags.h"
#include "cli/questionnaire.h"

namespace accelerate::cli {

namespace {

using config::LaunchConfig;

constexpr int64_t kUsualPort = 29500;  // of torchrun and of Python's launcher

/// A kind of machine: its name in the menu, its distributed_type, and its device.
struct Machine {
  std::string label;
  std::string type;
  std::string device;
};

const std::vector<Machine>& machines() {
  static const std::vector<Machine> kAll = {{"one process, nothing distributed", "NO", "GPUs"},
                                            {"several processes on CPUs", "MULTI_CPU", "processes"},
                                            {"several XPUs", "MULTI_XPU", "XPUs"},
                                            {"several HPUs", "MULTI_HPU", "HPUs"},
                                            {"several GPUs", "MULTI_GPU", "GPUs"},
                                            {"several NPUs", "MULTI_NPU", "NPUs"},
                                            {"several MLUs", "MULTI_MLU", "MLUs"},
                                            {"several SDAAs", "MULTI_SDAA", "SDAAs"},
                                            {"several MUSAs", "MULTI_MUSA", "MUSAs"},
                                            {"several Neuron cores", "MULTI_NEURON", "Neuron cores"},
                                            {"a TPU", "XLA", "TPU cores"}};
  return kAll;
}

/// The backends of torch.compile, as in the flag of `accelerate launch`.
std::vector<std::string> dynamo_backends() {
  auto backends = launch::find_launch_flag("dynamo_backend")->choices;
  std::erase(backends, "no");
  return backends;
}

/// A path with ~ at its start replaced by the home directory.
std::string expand_home(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  return environment_variable("HOME").value_or("~") + path.substr(1);
}

class Questionnaire {
 public:
  explicit Questionnaire(Prompt& prompt) : prompt_(prompt) {}

  LaunchConfig run() {
    ask_where();
    if (is_distributed()) {
      ask_machines();
      config_.debug = prompt_.ask_yes_no("Check the collectives of the processes (slower, but finds hangs)?", false);
    }
    ask_cpu();
    ask_dynamo();
    if (!is("MULTI_CPU")) decline("DeepSpeed");
    bool fsdp = is_distributed() && !is("MULTI_CPU") && ask_fsdp(prompt_, config_);
    if (is("MULTI_GPU")) decline("Megatron-LM");
    ask_processes();
    if (!config_.use_cpu.value_or(false) && !fsdp) ask_devices();
    ask_precision();
    return config_;
  }

 private:
  bool is(const std::string& type) const { return config_.distributed_type == type; }
  bool is_distributed() const { return !is("NO"); }

  void ask_where() {
    if (prompt_.choose("Where does the job run?", {"on this machine, or on similar machines", "on Amazon SageMaker"}) ==
        1) {
      fail("only Python's Accelerate can start jobs on Amazon SageMaker");
    }
    std::vector<std::string> labels;
    for (const auto& machine : machines()) labels.push_back(machine.label);
    machine_ = machines()[prompt_.choose("What does it compute on?", labels)];
    if (machine_.type == "XLA") fail("a TPU needs Python's XLA; libtorch has no counterpart in C++");
    config_.distributed_type = machine_.type;
  }

  void ask_machines() {
    auto num_machines = prompt_.ask_integer("How many machines are there?", 1, 1);
    config_.num_machines = num_machines;
    if (num_machines == 1) return;
    std::vector<std::string> ranks;
    for (int64_t rank = 0; rank < num_machines; ++rank) ranks.push_back(std::to_string(rank));
    config_.machine_rank = prompt_.choose("What is the rank of this machine?", ranks);
    config_.main_process_ip = ask_address();
    config_.main_process_port =
        prompt_.ask_integer("Which port of machine 0 is free for the job?", kUsualPort, 1, 65535);
    bool same_network = prompt_.ask_yes_no("Are all machines on one local network?", true);
    config_.same_network = same_network;
    if (!same_network) {
      config_.rdzv_backend = ask_rendezvous();
    }
  }

  /// The default of machine 0 is its own address; the others cannot know it.
  std::string ask_address() {
    const auto preset = config_.machine_rank == 0 ? launch::own_address() : "";
    while (true) {
      auto address = prompt_.ask("What is the address of machine 0?", preset);
      if (!address.empty()) return address;
      prompt_.say("The other machines need it to find machine 0.");
    }
  }

  std::string ask_rendezvous() {
    const auto& known = launch::find_launch_flag("rdzv_backend")->choices;
    while (true) {
      auto backend = prompt_.ask("How do the machines find each other (" + listed(known, " or ") + ")?", "static");
      if (std::find(known.begin(), known.end(), backend) != known.end()) return backend;
      prompt_.say("'" + backend + "' is not known here; it can be " + listed(known, " or ") + ".");
    }
  }

  void ask_cpu() {
    config_.use_cpu = is("MULTI_CPU");
    if (is("NO")) config_.use_cpu = prompt_.ask_yes_no("Use the CPU even if there is a GPU?", false);
    if (!is("MULTI_CPU") || !prompt_.ask_yes_no("Start the processes with mpirun?", false)) return;
    config_.mpirun_config["mpirun_hostfile"] =
        expand_home(prompt_.ask("Which host file does mpirun read?", "~/hostfile"));
  }

  void ask_dynamo() {
    if (!prompt_.ask_yes_no("Use torch.compile (Python programs only)?", false)) return;
    auto backends = dynamo_backends();
    auto usual = std::find(backends.begin(), backends.end(), "inductor") - backends.begin();
    auto& section = config_.dynamo_config;
    section["dynamo_backend"] = upper_case(backends[prompt_.choose("With which backend?", backends, usual)]);
    if (!prompt_.ask_yes_no("Change its other settings?", false)) return;
    const std::vector<std::string> modes = {"default", "reduce-overhead", "max-autotune"};
    section["dynamo_mode"] = modes[prompt_.choose("In which mode?", modes)];
    section["dynamo_use_fullgraph"] = prompt_.ask_yes_no("Require a single graph?", false);
    section["dynamo_use_dynamic"] = prompt_.ask_yes_no("Trace dynamic shapes?", false);
    section["dynamo_use_regional_compilation"] = prompt_.ask_yes_no("Compile repeated blocks once?", false);
  }

  void decline(const std::string& library) {
    if (!prompt_.ask_yes_no("Use " + library + "?", false)) return;
    prompt_.say(library + " is a Python library, which this program cannot configure. Continuing without it.");
  }

  void ask_processes() {
    config_.num_processes = 1;
    if (!is_distributed()) return;
    auto what = is("FSDP") ? "GPUs" : machine_.device;
    const auto machines = *config_.num_machines;
    // The fewest that launch accepts: one on every machine, and several GPUs where that is what was chosen.
    const auto preset = is("MULTI_GPU") ? std::max<int64_t>(machines, 2) : machines;
    while (true) {
      config_.num_processes = prompt_.ask_integer("How many " + what + ", of all machines together?", preset, 1);
      if (*config_.num_processes % machines == 0) break;
      prompt_.say("Every machine has the same number: it must be a multiple of " + std::to_string(machines) + ".");
    }
    if (is("MULTI_GPU") && machines == 1 && config_.num_processes == 1) {
      fail("a single GPU is not a distributed job; choose 'one process' at 'What does it compute on?'");
    }
  }

  void ask_devices() {
    config_.gpu_ids =
        prompt_.ask("Which " + machine_.device + " of this machine, as numbers separated by commas?", "all");
    if (!is("NO") && !is("MULTI_GPU")) return;
    config_.enable_cpu_affinity =
        prompt_.ask_yes_no("Bind each process to the cores near its GPU (NVIDIA only)?", false);
  }

  void ask_precision() {
    const std::vector<std::string> precisions = {"no", "fp16", "bf16", "fp8"};
    auto chosen = precisions[prompt_.choose("Which mixed precision?", precisions)];
    if (chosen == "fp8") fail("fp8 needs Python libraries; choose no, fp16 or bf16");
    config_.mixed_precision = chosen;
  }

  Prompt& prompt_;
  LaunchConfig config_ = usual_configuration();
  Machine machine_;
};

}  // namespace

LaunchConfig usual_configuration() {
  return {.compute_environment = "LOCAL_MACHINE",
          .distributed_type = "NO",
          .mixed_precision = "no",
          .use_cpu = false,
          .debug = false,
          .num_processes = 1,
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

LaunchConfig ask_configuration(Prompt& prompt) { return Questionnaire(prompt).run(); }

}  // namespace accelerate::cli
