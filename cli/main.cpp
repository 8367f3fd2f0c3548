// The command `accelerate`.

#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "accelerate/base/nearest_name.h"
#include "accelerate/base/version.h"
#include "cli/command_line.h"
#include "cli/launch_command.h"
#include "cli/test_command.h"

namespace accelerate::cli {

namespace {

struct Command {
  std::string name;
  std::string summary;
  std::function<int(const std::vector<std::string>& arguments)> run;
};

const std::vector<Command>& commands() {
  static const std::vector<Command> kAll = {{"launch", "start a program on several processes", launch_command},
                                            {"test", "prove that this installation works", test_command}};
  return kAll;
}

void print_help(std::ostream& out) {
  out << "Run one libtorch training loop on any number of processes and machines.\n\n"
         "Usage: accelerate COMMAND [OPTIONS]\n\nCommands:\n";
  for (const auto& command : commands()) out << "  " << command.name << "    " << command.summary << "\n";
  out << "\nOptions:\n  -h, --help    this text, or that of a command after its name\n  --version     the version\n";
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_help(std::cerr);
    return 1;
  }
  const auto& word = arguments.front();
  if (word == "-h" || word == "--help") return print_help(std::cout), 0;
  if (word == "--version") return std::cout << "accelerate " << kVersion << "\n", 0;
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    if (command.name == word) return command.run({arguments.begin() + 1, arguments.end()});
    names.push_back(command.name);
  }
  auto nearest = nearest_name(word, names);
  throw UsageError("unknown command '" + word + "'" +
                   (nearest.empty() ? "; accelerate --help lists them" : "; did you mean " + nearest + "?"));
}

/// Says what went wrong, and after which command.
int report(const std::exception& error, const std::vector<std::string>& arguments, int exit_code) {
  bool in_command = !arguments.empty() && (arguments.front() == "launch" || arguments.front() == "test");
  std::cerr << "accelerate" << (in_command ? " " + arguments.front() : "") << ": " << error.what() << '\n';
  return exit_code;
}

}  // namespace

}  // namespace accelerate::cli

int main(int argc, char** argv) {
  using namespace accelerate;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    return cli::run(arguments);
  } catch (const cli::UsageError& error) {
    return cli::report(error, arguments, 2);
  } catch (const std::exception& error) {
    return cli::report(error, arguments, 1);
  }
}
