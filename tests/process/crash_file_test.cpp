#include "accelerate/process/crash_file.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "tests/support/captured_stderr.h"

using namespace accelerate;
using namespace accelerate::process;

namespace {

/// Exit status of a process in which `body` is left by an exception that nobody catches.
int status_after(void (*body)()) {
  pid_t child = fork();
  if (child == 0) {
    std::set_terminate(__gnu_cxx::__verbose_terminate_handler);
    report_uncaught_exceptions();
    [&]() noexcept { body(); }();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("an exception that nobody catches is one line and exit code 1") {
  int status = 0;
  auto text = tests::captured_stderr(
      [&] { status = status_after([] { fail("no such thing\nException raised from f at f.cpp:1\nframe #0: f"); }); });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(text == "CRITICAL:accelerate:no such thing\n");
}

TEST_CASE("an exception is reported where the environment asks for a level of logging that is none") {
  PatchEnvironment loud{{"ACCELERATE_LOG_LEVEL", "loud"}};
  int status = 0;
  auto text = tests::captured_stderr([&] { status = status_after([] { fail("no such thing"); }); });
  CHECK(WIFEXITED(status));
  CHECK(text == "CRITICAL:accelerate:no such thing\n");
}

TEST_CASE("an exception of any type is reported") {
  int status = 0;
  auto text = tests::captured_stderr([&] { status = status_after([] { throw 7; }); });
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(text.find("unknown type") != std::string::npos);
}
