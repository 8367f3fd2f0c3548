#include "notebook/worker/interrupts.h"

#include <signal.h>

namespace accelerate::notebook {

namespace {

volatile sig_atomic_t interrupted = 0;

}  // namespace

void note_interrupts() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

void forget_interrupts() { interrupted = 0; }

bool was_interrupted() { return interrupted != 0; }

}  // namespace accelerate::notebook
