#include "accelerate/base/tcp.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/time.h>

#include <cerrno>
#include <vector>

#include "accelerate/base/loopback_port.h"
#include "accelerate/base/scope.h"

using namespace accelerate;
using namespace std::chrono_literals;

namespace {

Addresses address_of(const LoopbackPort& port) { return look_up_host("127.0.0.1", port.number()).addresses; }

/// Interrupts what the process waits for every few milliseconds, until the scope ends.
auto interrupt_all_the_time() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  const timeval often{0, 5000};
  const itimerval timer{often, often};
  setitimer(ITIMER_REAL, &timer, nullptr);
  return ScopeExit([] {
    const itimerval off{};
    setitimer(ITIMER_REAL, &off, nullptr);
    signal(SIGALRM, SIG_DFL);
  });
}

}  // namespace

TEST_CASE("a connection is open, or its error says why not") {
  LoopbackPort port;
  auto addresses = address_of(port);
  CHECK(try_to_connect(*addresses, 1s).error == ECONNREFUSED);
  port.listen();
  auto connection = try_to_connect(*addresses, 1s);
  CHECK(connection.error == 0);
  CHECK(connection.socket);
}

TEST_CASE("a signal does not make an open connection of one that nobody answers") {
  LoopbackPort port;
  port.listen();
  auto addresses = address_of(port);
  // One that is full does not answer. How many have room says the system.
  ::listen(port.fd(), 0);
  std::vector<TcpConnection> waiting;
  do {
    waiting.push_back(try_to_connect(*addresses, 100ms));
  } while (waiting.back().error == 0 && waiting.size() < 10);
  REQUIRE(waiting.back().error == ETIMEDOUT);
  auto interrupted = interrupt_all_the_time();
  CHECK(try_to_connect(*addresses, 100ms).error == ETIMEDOUT);
}
