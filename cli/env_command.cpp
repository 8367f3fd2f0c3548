#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <ranges>

#include "accelerate/base/byte_size.h"
#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/text.h"
#include "accelerate/base/version.h"
#include "accelerate/config/keys.h"
#include "cli/command_line.h"
#include "cli/machine.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;

std::string or_none(const std::string& text) { return text.empty() ? "not found" : text; }

/// A value as Python prints it, which readers of issues are used to.
std::string shown(bool value) { return value ? "True" : "False"; }
std::string shown(int64_t value) { return std::to_string(value); }
std::string shown(double value) { return std::to_string(value); }
std::string shown(std::monostate) { return "None"; }
std::string shown(const std::string& value) { return value; }
std::string shown(const std::vector<std::string>& values) {
  return "[" + listed(values | std::views::transform([](const auto& value) { return "'" + value + "'"; })) + "]";
}
std::string shown(const config::Section& section) {
  auto entry = [](const auto& pair) {
    return "'" + pair.first + "': " + std::visit([](const auto& one) { return shown(one); }, pair.second);
  };
  return "{" + listed(section | std::views::transform(entry)) + "}";
}

void print_config(const config::LaunchConfig& config) {
  for (const auto& key : config::keys()) {
    std::visit(
        [&](auto member) {
          const auto& value = config.*member;
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, config::Section>) {
            if (!value.empty()) std::cout << "\t- " << key.name << ": " << shown(value) << "\n";
          } else if (value) {
            std::cout << "\t- " << key.name << ": " << shown(*value) << "\n";
          }
        },
        key.member);
  }
}

bool is_secret(const std::string& name) {
  for (auto word : {"TOKEN", "KEY", "SECRET", "PASSWORD", "CREDENTIAL"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

/// The variables that decide how a job runs.
bool matters(const std::string& name) {
  for (auto prefix : {"ACCELERATE_", "OMP_", "MKL_", "KMP_", "GLOO_", "NCCL_", "SLURM_", "OMPI_", "PMI_", "MASTER_"}) {
    if (name.starts_with(prefix)) return true;
  }
  for (auto known : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "CUDA_VISIBLE_DEVICES", "HF_HOME"}) {
    if (name == known) return true;
  }
  return false;
}

void print_variables() {
  std::vector<std::string> lines;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::string text = *variable;
    auto name = text.substr(0, text.find('='));
    if (!matters(name)) continue;
    lines.push_back(is_secret(name) ? name + "=(hidden)" : text);
  }
  std::sort(lines.begin(), lines.end());
  std::cout << "- Variables that matter:" << (lines.empty() ? " none" : "") << "\n";
  for (const auto& line : lines) std::cout << "\t- " << line << "\n";
}

/// What `accelerate launch` would give to each process.
void print_shares(const config::LaunchConfig& config) {
  const auto machines = std::max<int64_t>(1, config.num_machines.value_or(1));
  const auto processes = std::max<int64_t>(1, config.num_processes.value_or(1) / machines);
  const int threads = wanted_threads().value_or(threads_per_process(static_cast<int>(processes)));
  const bool own = config.enable_cpu_affinity.value_or(environment_flag("ACCELERATE_CPU_AFFINITY", false));
  std::cout << "- Processes on this machine: " << processes << ", threads of each: " << threads << ", cores of each: "
            << (own ? std::to_string(cores_of_process(allowed_cores(), 0, static_cast<int>(processes)).size()) +
                          " of its own"
                    : "any")
            << "\n";
}

void print_machine() {
  std::cout << "- `Accelerate` version: " << kVersion << " (C++)\n"
            << "- Platform: " << platform_name() << "\n"
            << "- `accelerate` location: " << own_path() << "\n"
            << "- Compiler: " << __VERSION__ << "\n"
            << "- libtorch version: " << ACCELERATE_COMMAND_TORCH << "\n"
            << "- CPU: " << cpu_name() << ", " << physical_cores() << " cores, " << available_cores() << " usable\n"
            << "- System RAM: " << format_bytes(static_cast<double>(memory_bytes())) << "\n";
  auto gpus = gpu_names();
  if (gpus.empty()) std::cout << "- GPU type: none\n";
  for (const auto& gpu : gpus) std::cout << "- GPU type: " << gpu << "\n";
  std::cout << "- Python: " << or_none(find_in_path("python3")) << "\n"
            << "- MPI: " << or_none(find_in_path("mpirun")) << "\n"
            << "- Slurm: " << or_none(find_in_path("srun")) << "\n";
}

}  // namespace

int env_command(const std::vector<std::string>& arguments) {
  std::string config_file;
  CLI::App app("Prints a block about this machine to paste into an issue, without secrets.", "accelerate env");
  app.add_option("--config_file", config_file, "The configuration to show instead of the default one")
      ->option_text("FILE");
  if (!parse_arguments(app, arguments)) return 0;

  auto file = config_file.empty() ? config::default_config_file() : fs::path(config_file);
  bool there = !config_file.empty() || fs::exists(file);
  auto config = there ? config::read_launch_config(file) : config::LaunchConfig{};
  std::cout << "\nPlease paste what follows into your issue:\n\n";
  print_machine();
  print_shares(config);
  print_variables();
  std::cout << (config_file.empty() ? "- `Accelerate` default config:\n" : "- `Accelerate` config passed:\n");
  if (!there) std::cout << "\tNot found\n";
  print_config(config);
  return 0;
}

}  // namespace accelerate::cli
