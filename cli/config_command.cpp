#include "cli/commands.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "accelerate/base/gpu.h"
#include "accelerate/config/assign.h"
#include "accelerate/config/write_config.h"
#include "cli/command_line.h"
#include "cli/questionnaire.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;
using config::LaunchConfig;

struct ConfigOptions {
  std::string action = {};
  std::string config_file = {};
  std::vector<std::string> assignments = {};
  std::string mixed_precision = {};
  bool non_interactive = false;

  fs::path file() const { return config_file.empty() ? config::default_config_file() : fs::path(config_file); }
};

void add_flags(CLI::App& app, ConfigOptions& options) {
  app.add_option("action", options.action, "Action instead of asking questions")
      ->check(CLI::IsMember({"default", "update", "schema"}));
  app.add_option("--config_file", options.config_file, "The file to write, instead of the default one")
      ->option_text("FILE");
  app.add_option("--set", options.assignments, "Set a key without questions; may be repeated")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--non_interactive", options.non_interactive,
               "Ask nothing: keep the values of the file, or write the defaults");
  app.add_option("--mixed_precision", options.mixed_precision, "Precision for the action default")
      ->check(CLI::IsMember({"no", "fp16", "bf16"}));
  app.footer(
      "The action default writes the defaults for this machine, unless a file exists; update upgrades an older\n"
      "file to the current keys; schema prints the JSON schema of the file. A key inside a section is set as\n"
      "section.key=value, and key=null removes it. The default file is accelerate/default_config.yaml in the\n"
      "directory HF_HOME, which is by default ~/.cache/huggingface.");
}

/// What fits this machine.
LaunchConfig default_configuration() {
  auto config = usual_configuration();
  int gpus = count_gpus();
  config.use_cpu = gpus == 0;
  config.num_processes = std::max(1, gpus);
  config.distributed_type = gpus > 1 ? "MULTI_GPU" : "NO";
  if (gpus > 0) config.gpu_ids = "all";
  return config;
}

/// Fills what an older file does not have.
LaunchConfig with_usual_values(LaunchConfig config) {
  auto usual = usual_configuration();
  if (config.distributed_type != "NO") usual.num_processes.reset();  // then it is to be given at launch
  for (const auto& key : config::keys()) {
    std::visit(
        [&](auto member) {
          auto& value = config.*member;
          if (value == std::decay_t<decltype(value)>()) value = usual.*member;
        },
        key.member);
  }
  return config;
}

/// Writes it with the values of --set, and says where.
int save(LaunchConfig config, const ConfigOptions& options) {
  for (const auto& assignment : options.assignments) config::assign_text(config, assignment);
  config::write_launch_config(config, options.file());
  std::cout << "Configuration written to " << options.file().string() << "\n";
  return 0;
}

int write_default(const ConfigOptions& options) {
  if (fs::exists(options.file())) {
    std::cout << options.file().string() << " exists and was not changed; accelerate config rewrites it\n";
    return 0;
  }
  auto config = default_configuration();
  if (!options.mixed_precision.empty()) config.mixed_precision = options.mixed_precision;
  return save(config, options);
}

int update(const ConfigOptions& options) {
  auto config = config::read_launch_config(options.file());
  for (const auto& change : config.upgrades) std::cout << change << "\n";
  return save(with_usual_values(config), options);
}

int write_without_questions(const ConfigOptions& options) {
  bool there = fs::exists(options.file());
  return save(there ? config::read_launch_config(options.file()) : default_configuration(), options);
}

}  // namespace

int config_command(const std::vector<std::string>& arguments) {
  ConfigOptions options;
  CLI::App app("Writes the configuration that accelerate launch reads, with or without questions.",
               "accelerate config");
  add_flags(app, options);
  if (!parse_arguments(app, arguments)) return 0;
  if (!options.mixed_precision.empty() && options.action != "default") {
    throw UsageError("--mixed_precision belongs to accelerate config default; use --set mixed_precision=" +
                     options.mixed_precision);
  }
  if (options.action == "schema") return std::cout << config::config_schema(), 0;
  if (options.action == "default") return write_default(options);
  if (options.action == "update") return update(options);
  if (options.non_interactive || !options.assignments.empty()) return write_without_questions(options);
  ConsolePrompt prompt;
  return save(ask_configuration(prompt), options);
}

}  // namespace accelerate::cli
