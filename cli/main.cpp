// The command `accelerate`.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/base/version.h"
#include "accelerate/config/launch_config.h"
#include "accelerate/process/standard_streams.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/help_page.h"

namespace accelerate::cli {

namespace {

constexpr const char* kSummary = "Run one libtorch training loop on any number of processes and machines.";

struct Command {
  std::string name;
  std::string summary;
  std::function<int(const std::vector<std::string>& arguments)> run;
};

std::vector<HelpPage> help_pages();

const std::vector<Command>& commands() {
  using Words = std::vector<std::string>;
  static const std::vector<Command> kAll = {
      {"config", "write the configuration that launch reads", config_command},
      {"launch", "start a program on several processes", launch_command},
      {"test", "check that this installation works", test_command},
      {"env", "print the information about this machine for an issue", env_command},
      {"estimate-memory", "estimate how much memory a model needs", estimate_memory_command},
      {"merge-weights", "merge the shards of a model, or split it into shards", merge_weights_command},
      {"notebook", "register the C++ kernel with Jupyter", notebook_command},
      {"to-fsdp2", "convert a configuration from FSDP 1 to 2", to_fsdp2_command},
      {"tpu-config", "not supported: a TPU needs Python's XLA", tpu_config_command},
      {"doctor", "look for common problems of a machine", doctor_command},
      {"completion", "print a script that completes commands and flags",
       [](const Words& words) { return completion_command(words, help_pages); }},
      {"man-pages", "write the manual pages",
       [](const Words& words) { return man_pages_command(words, kSummary, help_pages); }},
  };
  return kAll;
}

/// The help of every command, as the command itself prints it.
std::vector<HelpPage> help_pages() {
  std::vector<HelpPage> pages;
  for (const auto& command : commands()) {
    auto text = captured_output([&] { command.run({"--help"}); });
    pages.push_back(parse_help(command.name, command.summary, text));
  }
  return pages;
}

void print_help(std::ostream& out) {
  out << kSummary << "\n\nUsage: accelerate COMMAND [OPTIONS]\n\nCommands:\n";
  for (const auto& command : commands()) {
    out << "  " << std::left << std::setw(18) << command.name << command.summary << "\n";
  }
  out << "\nOptions:\n  -h, --help        this help, or the help of a command\n"
         "  --version         the version\n";
}

const Command* find_command(const std::string& name) {
  for (const auto& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_help(std::cerr);
    return 1;
  }
  const auto& word = arguments.front();
  if (word == "-h" || word == "--help") return print_help(std::cout), 0;
  if (word == "--version") return std::cout << "accelerate " << kVersion << "\n", 0;
  if (const auto* command = find_command(word)) return command->run({arguments.begin() + 1, arguments.end()});
  std::vector<std::string> names;
  for (const auto& command : commands()) names.push_back(command.name);
  auto nearest = nearest_name(word, names);
  throw UsageError("unknown command '" + word + "'" +
                   (nearest.empty() ? "; accelerate --help lists them" : "; did you mean " + nearest + "?"));
}

/// The words of the command line; a link called accelerate-launch is `accelerate launch`.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string prefix = "accelerate-";
  auto name = std::filesystem::path(argc > 0 ? argv[0] : "").filename().string();
  if (name.starts_with(prefix) && find_command(name.substr(prefix.size())) != nullptr) {
    arguments.insert(arguments.begin(), name.substr(prefix.size()));
  }
  return arguments;
}

/// Runs the command, and has everything that it printed arrive.
int run_to_the_end(const std::vector<std::string>& arguments) {
  int exit_code = run(arguments);
  if (!std::cout.flush()) fail("standard output cannot be written; is the disk full?");
  return exit_code;
}

/// Says what went wrong, and after which command.
int report(const std::exception& error, const std::vector<std::string>& arguments, int exit_code) {
  bool in_command = !arguments.empty() && find_command(arguments.front()) != nullptr;
  std::cerr << "accelerate" << (in_command ? " " + arguments.front() : "") << ": " << error.what() << '\n';
  return exit_code;
}

}  // namespace

}  // namespace accelerate::cli

int main(int argc, char** argv) {
  using namespace accelerate;
  process::open_closed_streams();
  auto arguments = cli::arguments_of(argc, argv);
  try {
    return cli::run_to_the_end(arguments);
  } catch (const cli::UsageError& error) {
    return cli::report(error, arguments, 2);
  } catch (const config::ConfigError& error) {
    return cli::report(error, arguments, 2);
  } catch (const std::exception& error) {
    return cli::report(error, arguments, 1);
  }
}
