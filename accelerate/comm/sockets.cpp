#include "accelerate/comm/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"

namespace accelerate::comm {

namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& host, int port, int type, int& error) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = type;
  addrinfo* list = nullptr;
  error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  return Addresses(error == 0 ? list : nullptr, &freeaddrinfo);
}

/// Tries to connect within `limit`; returns 0 or the errno.
int try_connect(const addrinfo& address, std::chrono::milliseconds limit) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return errno;
  if (connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting{socket.get(), POLLOUT, 0};
  if (poll(&waiting, 1, static_cast<int>(limit.count())) == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0; }

void wait_until_reachable(const std::string& host, int port, std::chrono::milliseconds timeout) {
  auto deadline = Clock::now() + timeout;
  auto pause = std::chrono::milliseconds(5);
  std::string reason;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    int resolve_error = 0;
    auto addresses = resolve(host, port, SOCK_STREAM, resolve_error);
    if (resolve_error != 0) {
      reason = std::string("the name is not resolved (") + gai_strerror(resolve_error) + ")";
      if (resolve_error == EAI_NONAME) break;  // it will not appear by waiting
    }
    for (auto* address = addresses.get(); address; address = address->ai_next) {
      int error = try_connect(*address, std::min(left, std::chrono::milliseconds(2000)));
      if (error == 0) return;
      reason = error == ECONNREFUSED ? "the connection is refused: no rank 0 listens there"
               : error == ETIMEDOUT  ? "no answer: is the address right, and is a firewall in between?"
                                     : std::strerror(error);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(200));
  }
  fail("rank 0 cannot be reached at ", host, ":", port, " within ", timeout.count() / 1000.0, " s: ", reason,
       "; check MASTER_ADDR and MASTER_PORT");
}

std::string local_address_towards(const std::string& host) {
  int error = 0;
  auto addresses = resolve(host, 9, SOCK_DGRAM, error);
  if (!addresses) fail("the address '", host, "' is not resolved: ", gai_strerror(error), "; check MASTER_ADDR");
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
