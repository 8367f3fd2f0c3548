#include "accelerate/base/loopback_port.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "accelerate/base/error.h"

namespace accelerate {

namespace {

constexpr const char* kRemedy =
    "; stop the program that uses it, or choose another port with MASTER_PORT, --main_process_port or use_port; 0 "
    "selects a free one";

}  // namespace

LoopbackPort::LoopbackPort(int number) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (!socket_) fail("a socket cannot be created: ", std::strerror(errno));
  int on = 1;
  setsockopt(fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(number));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd(), plain, size) != 0 || getsockname(fd(), plain, &size) != 0) {
    fail("port ", number, " of 127.0.0.1 cannot be used: ", std::strerror(errno), kRemedy);
  }
  number_ = ntohs(address.sin_port);
}

void LoopbackPort::listen() {
  if (::listen(fd(), SOMAXCONN) != 0) {
    fail("port ", number_, " of 127.0.0.1 cannot be used: ", std::strerror(errno), kRemedy);
  }
}

}  // namespace accelerate
