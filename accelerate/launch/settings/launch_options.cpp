#include "accelerate/launch/settings/launch_options.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace accelerate::launch {

std::string name_of(const LaunchOptions& options, const std::string& flag) {
  auto found = options.given_as.find(flag);
  return found == options.given_as.end() ? "--" + flag : found->second;
}

namespace {

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(std::min(seconds, 1e9) * 1000));
}

/// Exports the settings of a group of flags as the variables that Python's Accelerate reads.
void export_group(const Settings& settings, const std::string& prefix, const std::string& use,
                  std::vector<EnvironmentVariable>& variables) {
  if (!settings.is_on(use)) return;
  variables.push_back({"ACCELERATE_" + upper_case(use), "true"});
  for (const auto& flag : launch_flags()) {
    const auto& value = settings.text(flag.name);
    if (!flag.name.starts_with(prefix) || value.empty()) continue;
    bool renamed = flag.name == "fsdp_transformer_layer_cls_to_wrap";
    variables.push_back({renamed ? "FSDP_TRANSFORMER_CLS_TO_WRAP" : upper_case(flag.name), value});
  }
}

std::optional<std::chrono::seconds> rendezvous_timeout_of(const Settings& settings) {
  std::optional<std::chrono::seconds> timeout;
  auto name = settings.given_as("rdzv_conf");
  std::istringstream entries(settings.text("rdzv_conf"));
  for (std::string entry; std::getline(entries, entry, ',');) {
    auto equals = entry.find('=');
    auto key = entry.substr(0, equals);
    if (equals == std::string::npos) fail(name, " has '", entry, "'; entries have the form key=value");
    if (key != "timeout" && key != "join_timeout") continue;
    auto value = entry.substr(equals + 1);
    bool is_number = !value.empty() && value.size() < 9 && std::all_of(value.begin(), value.end(), ::isdigit);
    if (!is_number) fail(name, " has ", key, " '", value, "'; it must be a number of seconds");
    timeout = std::chrono::seconds(std::stoi(value));
  }
  return timeout;
}

void check_at_least(const std::string& name, std::optional<int> value, int least) {
  if (value && *value < least) fail(name, " is ", *value, "; it must be at least ", least);
}

void check_machines(const LaunchOptions& options) {
  check_at_least(name_of(options, "num_machines"), options.num_machines, 1);
  if (options.machine_rank < 0 || options.machine_rank >= options.num_machines) {
    fail(name_of(options, "machine_rank"), " is ", options.machine_rank, "; with --num_machines ", options.num_machines,
         " it can be 0 to ", options.num_machines - 1);
  }
  if (options.num_processes % options.num_machines != 0) {
    fail(name_of(options, "num_processes"), " is ", options.num_processes, ", which --num_machines ",
         options.num_machines, " does not divide; it is the number of processes of all machines together");
  }
  if (options.one_machine()) return;
  if (options.main_process_ip.empty()) {
    fail(name_of(options, "num_machines"), " is ", options.num_machines,
         ", and several machines need --main_process_ip: ", "the address of the ",
         options.mpirun_hostfile.empty() ? "machine with --machine_rank 0" : "first host");
  }
  if (!options.mpirun_hostfile.empty()) return;  // its ranks have a default port
  if (options.main_process_port.value_or(0) == 0) {
    fail(name_of(options, "num_machines"), " is ", options.num_machines,
         ", and several machines need --main_process_port: a port that is free on the machine with --machine_rank "
         "0");
  }
}

void check_gpu_ids(const LaunchOptions& options) {
  bool valid = options.gpu_ids == "all" ||
               std::all_of(options.gpu_ids.begin(), options.gpu_ids.end(),
                           [](unsigned char c) { return std::isalnum(c) != 0 || c == ',' || c == '-'; });
  if (!valid) fail(name_of(options, "gpu_ids"), " is '", options.gpu_ids, "'; it can be all, or numbers such as 0,1,3");
}

/// Checks options that apply to one language only.
void check_language(const LaunchOptions& options) {
  if (is_python_program(options.program, options.module)) {
    // The variable may be meant for other programs; the flag is meant for this one.
    if (options.zero_stage && name_of(options, "zero_stage") == "--zero_stage") {
      fail("--zero_stage is for C++ programs, and ", options.program, " is a Python program. There it ",
           why_not_here("use_deepspeed"));
    }
    return;
  }
  if (options.dynamo_backend != "no") {
    fail(name_of(options, "dynamo_backend"), " is ", options.dynamo_backend,
         ", but torch.compile is for Python programs, and ", options.program,
         " is not a Python program; remove the flag, or set it to no");
  }
  if (!options.sharding_variables.empty()) {
    fail("FSDP and other ways of sharding a model (--use_fsdp, --use_parallelism_config) are for Python programs, ",
         "and ", options.program, " is not a Python program; C++ programs keep the complete model on every rank");
  }
}

}  // namespace

int usual_processes(int num_machines, int gpus) { return std::max(1, gpus) * std::max(1, num_machines); }

bool is_python_program(const std::string& program, bool module) {
  auto name = program.substr(program.rfind('/') + 1);
  return module || name.ends_with(".py") || name.starts_with("python");
}

LaunchOptions options_of(const Settings& settings, int gpus) {
  LaunchOptions options;
  options.num_machines = *settings.integer("num_machines");
  options.num_processes = settings.integer("num_processes").value_or(usual_processes(options.num_machines, gpus));
  options.machine_rank = *settings.integer("machine_rank");
  options.main_process_ip = settings.text("main_process_ip");
  options.main_process_port = settings.integer("main_process_port");
  // A configuration file always contains a machine rank. Only one from a flag or variable is deliberate.
  bool rank_is_given = settings.is_given("machine_rank") && !settings.is_from_file("machine_rank");
  options.rank_by_arrival = settings.text("rdzv_backend") == "c10d" && options.num_machines > 1 && !rank_is_given;
  options.rendezvous_timeout = rendezvous_timeout_of(settings);
  options.mpirun_hostfile = settings.text("mpirun_hostfile");
  options.mixed_precision = settings.text("mixed_precision");
  options.use_cpu = settings.is_on("cpu");
  options.multi_gpu = settings.is_on("multi_gpu");
  options.gpu_ids = settings.text("gpu_ids");
  options.debug = settings.is_on("debug");
  options.enable_cpu_affinity = settings.is_on("enable_cpu_affinity");
  options.num_cpu_threads_per_process = settings.integer("num_cpu_threads_per_process");
  options.gradient_accumulation_steps = settings.integer("gradient_accumulation_steps");
  options.zero_stage = settings.integer("zero_stage");
  options.dynamo_backend = settings.text("dynamo_backend");
  options.dynamo_mode = settings.text("dynamo_mode");
  options.dynamo_use_fullgraph = settings.is_on("dynamo_use_fullgraph");
  options.dynamo_use_dynamic = settings.is_on("dynamo_use_dynamic");
  options.dynamo_use_regional_compilation = settings.is_on("dynamo_use_regional_compilation");
  export_group(settings, "fsdp_", "use_fsdp", options.sharding_variables);
  export_group(settings, "parallelism_config_", "use_parallelism_config", options.sharding_variables);
  options.max_restarts = *settings.integer("max_restarts");
  options.monitor_interval = milliseconds_of(settings.seconds("monitor_interval"));
  options.shutdown_timeout = milliseconds_of(settings.seconds("shutdown_timeout"));
  options.streams.redirects = StreamChoice(settings.given_as("redirects"), settings.text("redirects"));
  options.streams.tee = StreamChoice(settings.given_as("tee"), settings.text("tee"));
  options.log_dir = settings.text("log_dir");
  options.role = settings.text("role");
  options.wait_for_debugger = settings.integer("wait_for_debugger");
  options.module = settings.is_on("module");
  options.no_python = settings.is_on("no_python");
  for (const auto& flag : launch_flags()) {
    if (settings.is_given(flag.name)) options.given_as[flag.name] = settings.given_as(flag.name);
  }
  return options;
}

void check(const LaunchOptions& options) {
  check_at_least(name_of(options, "num_processes"), options.num_processes, 1);
  if (options.multi_gpu && !options.use_cpu) {
    check_at_least("with --multi_gpu, " + name_of(options, "num_processes"), options.num_processes, 2);
  }
  check_machines(options);
  int port = options.main_process_port.value_or(0);
  if (port < 0 || port > 65535)
    fail(name_of(options, "main_process_port"), " is ", port, "; a port is a number from 0 (any) to 65535");
  check_at_least(name_of(options, "num_cpu_threads_per_process"), options.num_cpu_threads_per_process, 1);
  check_at_least(name_of(options, "gradient_accumulation_steps"), options.gradient_accumulation_steps, 1);
  check_at_least(name_of(options, "max_restarts"), options.max_restarts, 0);
  check_gpu_ids(options);
  int debugged = options.wait_for_debugger.value_or(0);
  if (debugged < 0 || debugged >= options.num_processes) {
    fail(name_of(options, "wait_for_debugger"), " is ", debugged, "; with --num_processes ", options.num_processes,
         " it can be 0 to ", options.num_processes - 1);
  }
  if (options.module && options.no_python) {
    fail("--module and --no_python contradict each other: a module is run by python3; give one of them");
  }
  check_language(options);
}

}  // namespace accelerate::launch
