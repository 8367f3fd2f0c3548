#include "cli/doctor_command.h"

#include <iostream>

#include "cli/checkup.h"
#include "cli/parse_arguments.h"

namespace accelerate::cli {

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

}  // namespace accelerate::cli
