#include "accelerate/base/exit_status.h"

#include <string.h>
#include <sys/wait.h>

namespace accelerate {

std::string signal_name(int number) {
  const char* abbreviation = sigabbrev_np(number);
  return abbreviation ? std::string("SIG").append(abbreviation) : "signal " + std::to_string(number);
}

std::string describe_exit(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
  int number = WTERMSIG(wait_status);
  return "was ended by " + signal_name(number) + " (" + strsignal(number) + ")";
}

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace accelerate
