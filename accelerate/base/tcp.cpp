#include "accelerate/base/tcp.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace accelerate {

namespace {

using std::chrono::milliseconds;

/// Waits at most `limit` for the connection. Returns its error, or 0.
int wait_until_connected(int socket, milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  pollfd writable{socket, POLLOUT, 0};
  int ready = 0;
  do {
    auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    ready = poll(&writable, 1, static_cast<int>(std::max(left, milliseconds(0)).count()));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

HostLookup look_up_host(const std::string& host, int port, int socket_type) {
  addrinfo hints{};
  hints.ai_socktype = socket_type;
  addrinfo* found = nullptr;
  int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return {Addresses(nullptr, freeaddrinfo), gai_strerror(error)};
  return {Addresses(found, freeaddrinfo)};
}

TcpConnection try_to_connect(const addrinfo& address, milliseconds limit) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {.error = errno};
  int error = connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = wait_until_connected(socket.get(), limit);
  if (error != 0) return {.error = error};
  fcntl(socket.get(), F_SETFL, 0);
  return {.socket = std::move(socket)};
}

}  // namespace accelerate
