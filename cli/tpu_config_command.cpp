#include "cli/tpu_config_command.h"

#include "cli/command_line.h"
#include "cli/parse_arguments.h"

namespace accelerate::cli {

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
