#include "accelerate/comm/sockets.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/base/tcp.h"

namespace accelerate::comm {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string reason_for(int error) {
  if (error == ECONNREFUSED) return "connection refused: rank 0 does not listen there";
  if (error == ETIMEDOUT) return "no answer: is the address correct, and is there a firewall?";
  return std::strerror(error);
}

/// Tries each address of the host once. Returns why none of them answers, or an empty string if one does.
std::string try_to_reach(const std::string& host, int port, milliseconds limit) {
  auto found = look_up_host(host, port);
  if (!found.problem.empty()) return "the name cannot be resolved (" + found.problem + ")";
  int error = 0;
  for (auto* address = found.addresses.get(); address; address = address->ai_next) {
    error = try_to_connect(*address, limit).error;
    if (error == 0) return "";
  }
  return reason_for(error);
}

}  // namespace

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0; }

void wait_until_reachable(const std::string& host, int port, milliseconds timeout) {
  auto deadline = Clock::now() + timeout;
  auto pause = milliseconds(5);
  std::string reason;
  // Unresolved names are retried too: the name of a Kubernetes pod resolves only once the pod runs.
  for (auto left = timeout; left.count() > 0;
       left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now())) {
    reason = try_to_reach(host, port, std::min(left, milliseconds(2000)));
    if (reason.empty()) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(200));
  }
  fail("rank 0 cannot be reached at ", host, ":", port, " within ", timeout.count() / 1000.0, " s: ", reason,
       "; check MASTER_ADDR and MASTER_PORT");
}

std::string local_address_towards(const std::string& host) {
  auto [addresses, problem] = look_up_host(host, 9, SOCK_DGRAM);
  if (!problem.empty()) fail("the address '", host, "' cannot be resolved: ", problem, "; check MASTER_ADDR");
  // Connecting a datagram socket sends nothing; it only asks the kernel for the route.
  Descriptor socket(::socket(addresses->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage local{};
  socklen_t size = sizeof(local);
  if (connect(socket.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&local), &size) != 0) {
    fail("there is no route to '", host, "': ", std::strerror(errno), "; check MASTER_ADDR and the network");
  }
  char text[NI_MAXHOST];
  getnameinfo(reinterpret_cast<sockaddr*>(&local), size, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

}  // namespace accelerate::comm
