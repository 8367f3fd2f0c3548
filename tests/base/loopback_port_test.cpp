#include "accelerate/base/loopback_port.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "accelerate/base/error.h"

using namespace accelerate;

namespace {

bool can_connect(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bool connected = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return connected;
}

}  // namespace

TEST_CASE("a free port has a number and takes connections once it listens") {
  LoopbackPort port;
  CHECK(port.number() > 0);
  CHECK_FALSE(can_connect(port.number()));
  port.listen();
  CHECK(can_connect(port.number()));
  port.close();
  CHECK_FALSE(can_connect(port.number()));
}

TEST_CASE("a port that was released goes on listening without the object") {
  int socket = -1, number = 0;
  {
    LoopbackPort port;
    port.listen();
    number = port.number();
    socket = port.release();
  }
  CHECK(can_connect(number));
  close(socket);
  CHECK_FALSE(can_connect(number));
}

TEST_CASE("a port on which another program listens is refused by its number") {
  LoopbackPort port;
  port.listen();
  CHECK_THROWS_WITH_AS(LoopbackPort(port.number()), doctest::Contains(std::to_string(port.number()).c_str()), Error);
}

TEST_CASE("a port that is taken but not listened on can be bound by a process that knows nothing of it") {
  LoopbackPort port;
  LoopbackPort other(port.number());
  CHECK(other.number() == port.number());
  CHECK_NOTHROW(other.listen());
}
