// The Jupyter kernel:
//
//   accelerate-kernel CONNECTION_FILE accelerate-cells compiler flags...

#include <signal.h>
#include <sys/signalfd.h>

#include <iostream>
#include <memory>

#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver_zmq.hpp>

#include "notebook/kernel/cell_kernel.h"
#include "notebook/kernel/history.h"
#include "notebook/kernel/parent.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "Jupyter starts accelerate-kernel; `accelerate notebook install` registers it\n";
    return 2;
  }
  // Before any thread starts, so that none of them receives it.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, nullptr);
  signal(SIGPIPE, SIG_IGN);
  accelerate::notebook::end_with_parent();
  int interrupts = signalfd(-1, &interrupt, SFD_NONBLOCK | SFD_CLOEXEC);

  auto cells =
      std::make_unique<accelerate::notebook::CellKernel>(std::vector<std::string>(argv + 2, argv + argc), interrupts);
  xeus::xkernel kernel(xeus::load_configuration(argv[1]), xeus::get_user_name(), xeus::make_context<zmq::context_t>(),
                       std::move(cells), xeus::make_xserver_zmq, std::make_unique<accelerate::notebook::History>(),
                       nullptr, xeus::make_null_debugger, nlohmann::json::object(),
                       nlohmann::json::error_handler_t::replace);
  kernel.start();
}
