#include "accelerate/launch/guard.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/base/thread_without_signals.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/process/process_tree.h"
#include "accelerate/process/signals.h"

namespace accelerate::launch {

namespace {

/// Stops this process as SIGTSTP does by default, until the shell resumes the job.
void halt() {
  sigset_t halting;
  sigemptyset(&halting);
  sigaddset(&halting, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &halting, nullptr);
  sigprocmask(SIG_BLOCK, &halting, nullptr);
}

[[noreturn]] void run_worker(const std::function<int()>& work, const std::function<void()>& tidy, int lifeline) {
  setpgid(0, 0);  // Ctrl-C reaches only the guard, which forwards it
  process::become_subreaper();
  std::mutex ending;  // the first thread to lock it ends the process
  auto end = [&](int exit_code) {
    ending.lock();
    process::kill_descendants();
    tidy();
    std::cout.flush();
    std::fflush(nullptr);
    _exit(exit_code);
  };
  thread_without_signals([lifeline, end] {
    char byte;
    while (read(lifeline, &byte, 1) < 0 && errno == EINTR) {
    }
    end(1);
  }).detach();
  end(work());
  std::abort();  // not reached: `end` does not return
}

}  // namespace

int run_guarded(const std::function<int()>& work, const std::function<void()>& tidy) {
  auto lifeline = open_pipe("the job cannot be started");  // never written to: EOF tells that the guard has ended
  process::become_subreaper();
  process::SignalWatch signals;
  pid_t worker = fork();
  if (worker < 0) fail("the job cannot be started: fork: ", std::strerror(errno));
  if (worker == 0) {
    lifeline.write_end = Descriptor();
    sigprocmask(SIG_SETMASK, &signals.original_mask(), nullptr);
    run_worker(work, tidy, lifeline.read_end.get());
  }
  lifeline.read_end = Descriptor();
  int status = 0;
  while (waitpid(worker, &status, WNOHANG) != worker) {
    int number = signals.wait(std::chrono::seconds(1));
    if (number != 0) signals.forward(number, worker);
    if (number == SIGTSTP) halt();
  }
  process::kill_descendants();
  tidy();
  return process::exit_code_of(status);
}

}  // namespace accelerate::launch
