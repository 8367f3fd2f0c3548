#include "accelerate/process/exit_status.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

using namespace accelerate;
using namespace accelerate::process;

TEST_CASE("an end is described by its exit code or its signal") {
  CHECK(describe_exit(W_EXITCODE(0, 0)) == "ended with exit code 0");
  CHECK(describe_exit(W_EXITCODE(7, 0)) == "ended with exit code 7");
  CHECK(describe_exit(W_EXITCODE(0, SIGSEGV)) == "was ended by SIGSEGV (Segmentation fault)");
  CHECK(describe_exit(W_EXITCODE(0, SIGKILL)) == "was ended by SIGKILL (Killed)");
  CHECK(describe_exit(W_EXITCODE(0, SIGSEGV) | WCOREFLAG) == "was ended by SIGSEGV (Segmentation fault)");
}

TEST_CASE("an end has the exit code that a shell would give it") {
  CHECK(exit_code_of(W_EXITCODE(0, 0)) == 0);
  CHECK(exit_code_of(W_EXITCODE(255, 0)) == 255);
  CHECK(exit_code_of(W_EXITCODE(0, SIGKILL)) == 137);
  CHECK(exit_code_of(W_EXITCODE(0, SIGTERM)) == 143);
}

TEST_CASE("signals have their names") {
  CHECK(signal_name(SIGINT) == "SIGINT");
  CHECK(signal_name(SIGKILL) == "SIGKILL");
}
