#include "accelerate/launch/address.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace {

/// An error of getaddrinfo, or 0 with the addresses.
int look_up(const std::string& host, int port, int flags, addrinfo*& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  return getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
}

}  // namespace

Addresses resolve_main_process(const std::string& host, int port) {
  addrinfo* found = nullptr;
  int error = look_up(host, port, 0, found);
  if (error != 0) {
    fail("--main_process_ip ", host, " cannot be resolved: ", gai_strerror(error),
         "; give the address of machine 0, or a name that this machine knows");
  }
  return {found, freeaddrinfo};
}

bool is_host_name(const std::string& host) {
  addrinfo* found = nullptr;
  if (look_up(host, 0, AI_NUMERICHOST, found) != 0) return true;
  freeaddrinfo(found);
  return false;
}

Connection try_to_connect(const addrinfo& address, std::chrono::milliseconds limit) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {.error = errno};
  int error = connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd writable{socket.get(), POLLOUT, 0};
    if (poll(&writable, 1, static_cast<int>(limit.count())) == 0) return {.error = ETIMEDOUT};
    socklen_t size = sizeof(error);
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) return {.error = error};
  fcntl(socket.get(), F_SETFL, 0);  // from now on calls wait, as usual
  return {.socket = std::move(socket)};
}

}  // namespace accelerate::launch
