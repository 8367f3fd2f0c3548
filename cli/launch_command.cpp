#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "accelerate/base/gpu.h"
#include "accelerate/config/launch_config.h"
#include "accelerate/launch/guard.h"
#include "accelerate/launch/launch.h"
#include "accelerate/launch/settings/launch_flags.h"
#include "accelerate/launch/settings/show_settings.h"
#include "accelerate/launch/settings/slurm.h"
#include "cli/command_line.h"

namespace accelerate::cli {

namespace {

/// What stands behind the flag in the help: the values there are, or their kind.
std::string value_of(const launch::LaunchFlag& flag) {
  if (flag.choices.empty()) {
    return flag.kind == launch::FlagKind::Integer ? "N" : flag.kind == launch::FlagKind::Seconds ? "SECONDS" : "TEXT";
  }
  std::string text;
  for (const auto& choice : flag.choices) text += (text.empty() ? "{" : ",") + choice;
  return text + "}";
}

void describe_flags(CLI::App& app) {
  app.get_formatter()->column_width(40);
  for (const auto& flag : launch::launch_flags()) {
    auto names = "--" + flag.name + (flag.letter.empty() ? "" : ",-" + flag.letter);
    if (flag.kind == launch::FlagKind::Switch) {
      app.add_flag(names, flag.help)->group(flag.group);
    } else {
      auto* option = app.add_option_function<std::string>(names, [](const std::string&) {}, flag.help);
      option->type_name(value_of(flag))->group(flag.group);
    }
  }
  // These two are cut off before the flags are looked at; here they only appear in the help.
  app.add_option_function<std::string>(
      "program", [](const std::string&) {}, "An executable, a .py file, or a .cpp file, which is compiled first");
  app.add_option_function<std::vector<std::string>>(
      "arguments", [](const std::vector<std::string>&) {}, "Arguments of the program");
  app.footer(
      "Each flag can also be set by an environment variable, --num_processes by ACCELERATE_NUM_PROCESSES.\n"
      "The order of precedence is: flag, environment variable, Slurm, configuration file, default;\n"
      "--show_config shows the origin of each value.");
}

launch::SettingMap settings_of_flags(const std::vector<std::string>& flags) {
  launch::SettingMap settings;
  for (const auto& word : flags) {
    auto equals = word.find('=');
    auto flag = word.substr(0, equals);
    settings[flag.substr(2)] = {equals == std::string::npos ? "true" : word.substr(equals + 1), flag};
  }
  return settings;
}

/// The file that was named, or the default one if it exists. Like Python's launcher, --cpu alone leaves the default
/// file aside: it is a request for a plain start.
std::optional<std::filesystem::path> config_file(const launch::SettingMap& flags,
                                                 const launch::SettingMap& environment) {
  for (const auto* source : {&flags, &environment}) {
    if (auto named = source->find("config_file"); named != source->end()) return named->second.value;
  }
  auto standard = config::default_config_file();
  return flags.contains("cpu") || !std::filesystem::exists(standard) ? std::nullopt : std::optional(standard);
}

launch::Settings gather_settings(const std::vector<std::string>& words) {
  std::vector<launch::SettingMap> sources = {settings_of_flags(words), launch::settings_of_environment()};
  sources.push_back(launch::settings_of_slurm(sources));
  if (auto file = config_file(sources[0], sources[1])) {
    sources.push_back(launch::settings_of_config(config::read_launch_config(*file)));
  }
  return launch::Settings(sources);
}

int run_job(const launch::LaunchOptions& options, const launch::JobDirectory& directory, bool quiet) {
  try {
    auto outcome = launch::launch(options, directory);
    if (!outcome.message.empty() && !quiet) std::cerr << "accelerate launch: " << outcome.message << '\n';
    return outcome.exit_code;
  } catch (const std::exception& error) {
    std::cerr << "accelerate launch: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace

int launch_command(const std::vector<std::string>& arguments) try {
  CLI::App app("Starts a program on several processes and connects them through environment variables.",
               "accelerate launch");
  describe_flags(app);
  auto line = split_at_program(app, arguments, launch::why_not_here);
  bool asks_for_help = std::find(line.flags.begin(), line.flags.end(), "--help") != line.flags.end();
  if (asks_for_help) return std::cout << app.help(), 0;
  auto settings = gather_settings(line.flags);
  if (settings.is_on("show_config")) {
    auto program = line.program.empty() ? "" : line.program.front();
    bool all = settings.text("show_config") == "all";
    return std::cout << launch::show_settings(settings, {.program = program, .gpus = count_gpus(), .all = all}), 0;
  }
  if (line.program.empty()) {
    throw UsageError("no program to run; usage: accelerate launch [OPTIONS] program [arguments...]");
  }
  auto options = launch::options_of(settings, count_gpus());
  options.program = line.program.front();
  options.arguments.assign(line.program.begin() + 1, line.program.end());
  check(options);
  if (isatty(STDIN_FILENO)) options.terminal_job = getpgrp();
  launch::JobDirectory directory(options.log_dir);
  return launch::run_guarded([&] { return run_job(options, directory, settings.is_on("quiet")); },
                             [&] { directory.tidy(); });
} catch (const Error& error) {
  throw UsageError(error.what());
}

}  // namespace accelerate::cli
