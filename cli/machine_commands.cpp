// The commands that check a machine: doctor, test, and tpu-config, which is not supported.

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "accelerate/config/launch_config.h"
#include "accelerate/launch/program/program.h"
#include "cli/checkup.h"
#include "cli/command_line.h"
#include "cli/commands.h"

namespace accelerate::cli {

namespace fs = std::filesystem;

int doctor_command(const std::vector<std::string>& arguments) {
  CLI::App app("Looks for common problems of a machine. The exit code is 1 if there is a problem.",
               "accelerate doctor");
  if (!parse_arguments(app, arguments)) return 0;
  bool healthy = true;
  for (const auto& finding : check_machine()) {
    std::cout << (finding.remedy.empty() ? "ok      " : "problem ") << finding.observation << "\n";
    if (finding.remedy.empty()) continue;
    std::cout << "        " << finding.remedy << "\n";
    healthy = false;
  }
  return healthy ? 0 : 1;
}

int test_command(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Checks that this installation works: prints a line for each property; the exit code is 1 if one does not hold.",
      "accelerate test");
  auto takes_text = [](const std::string&) {};
  app.add_option_function<std::string>("--config_file", takes_text,
                                       "Configuration file to test instead of the default one");
  app.add_option_function<std::string>("--num_processes,-n", takes_text,
                                       "Processes to test on; by default the number in the configuration, or 2");
  auto line = split_at_program(app, arguments);
  auto& words = line.flags;
  if (std::find(words.begin(), words.end(), "--help") != words.end()) return std::cout << app.help(), 0;
  if (!line.program.empty()) throw UsageError("'" + line.program.front() + "' is an unexpected argument; see --help");

  auto program = launch::helper_program("accelerate-conformance");
  if (!fs::exists(program)) {
    throw UsageError(program.string() + " is missing: this command was built without libtorch");
  }
  if (words.empty() && !fs::exists(config::default_config_file())) words.emplace_back("--num_processes=2");
  words.push_back(program.string());
  int exit_code = launch_command(words);
  std::cout << (exit_code == 0 ? "Everything works: this machine is ready to train."
                               : "Something does not work; see the lines above.")
            << std::endl;
  return exit_code;
}

int tpu_config_command(const std::vector<std::string>& arguments) {
  CLI::App app("Not supported: a TPU needs Python's XLA. Use Python's Accelerate to set up a TPU pod.",
               "accelerate tpu-config");
  app.allow_extras();
  bool asks_for_help = arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h");
  if (asks_for_help && !parse_arguments(app, arguments)) return 0;
  throw UsageError(
      "a TPU needs Python's XLA, which has no counterpart in libtorch; use Python's accelerate tpu-config");
}

}  // namespace accelerate::cli
