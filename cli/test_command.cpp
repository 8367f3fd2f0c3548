#include "cli/test_command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "accelerate/config/launch_config.h"
#include "accelerate/launch/installation.h"
#include "cli/command_line.h"
#include "cli/launch_command.h"

namespace accelerate::cli {

namespace fs = std::filesystem;

int test_command(const std::vector<std::string>& arguments) {
  CLI::App app("Proves that this installation works: a line for each property, and exit code 1 when one does not hold.",
               "accelerate test");
  auto takes_text = [](const std::string&) {};
  app.add_option_function<std::string>("--config_file", takes_text,
                                       "Configuration to test instead of the one that `accelerate config` wrote");
  app.add_option_function<std::string>("--num_processes,-n", takes_text,
                                       "Processes to test on; by default those of the configuration, or 2");
  auto line = split_at_program(app, arguments);
  auto& words = line.flags;
  if (std::find(words.begin(), words.end(), "--help") != words.end()) return std::cout << app.help(), 0;
  if (!line.program.empty()) throw UsageError("'" + line.program.front() + "' is one word too many; --help tells more");

  auto program = launch::helper_program("accelerate-conformance");
  if (!fs::exists(program)) {
    throw UsageError(program.string() + " is missing: this command was built without libtorch");
  }
  if (words.empty() && !fs::exists(config::default_config_file())) words.emplace_back("--num_processes=2");
  words.push_back(program.string());
  int exit_code = launch_command(words);
  std::cout << (exit_code == 0 ? "Everything works: this machine is ready to train."
                               : "Something does not work; the lines above say what.")
            << std::endl;
  return exit_code;
}

}  // namespace accelerate::cli
