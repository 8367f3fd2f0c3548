#include "accelerate/process/signals.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>

using namespace accelerate::process;

namespace {

/// The wait status of a child that runs `body`: handlers stay out of this process.
int status_of_child(const std::function<bool()>& body) {
  pid_t child = fork();
  if (child == 0) {
    restore_default_signals();  // doctest has handlers of its own
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a counted signal does not end the process, and one that the program handles is left alone") {
  CHECK(status_of_child([] {
          count_signal(SIGUSR2);
          raise(SIGUSR2);
          raise(SIGUSR2);
          count_signal(SIGUSR2);
          return num_signals(SIGUSR2) == 2;
        }) == 0);
  CHECK(status_of_child([] {
          signal(SIGUSR2, SIG_IGN);
          count_signal(SIGUSR2);
          raise(SIGUSR2);
          if (num_signals(SIGUSR2) != 0) return false;
          count_signal(SIGUSR2, IfHandled::Replace);
          raise(SIGUSR2);
          return num_signals(SIGUSR2) == 1;
        }) == 0);
}

TEST_CASE("while a recorder lives it takes the signals, and counts go on afterwards") {
  CHECK(status_of_child([] {
          count_signal(SIGINT);
          {
            SignalRecorder first, second;
            raise(SIGINT);
            if (first.take() != SIGINT || first.take() != 0 || second.take() != SIGINT) return false;
          }
          if (num_signals(SIGINT) != 0) return false;
          raise(SIGINT);
          return num_signals(SIGINT) == 1;
        }) == 0);
}

TEST_CASE("SIGTERM and SIGUSR1 announce a preemption") {
  for (int number : {SIGTERM, SIGUSR1}) {
    CHECK(status_of_child([number] {
            watch_for_preemption();
            bool early = preemption_noted();
            raise(number);
            return !early && preemption_noted();
          }) == 0);
  }
}

TEST_CASE("a forked process ends by a signal that its parent records") {
  SignalRecorder recorder;
  CHECK(status_of_child([] {
          raise(SIGTERM);
          return true;
        }) == SIGTERM);
  CHECK(recorder.take() == 0);
}
