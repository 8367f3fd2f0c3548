#include "accelerate/shared_memory/unix_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "accelerate/base/error.h"

namespace accelerate::shared_memory {

namespace {

constexpr size_t kMostDescriptors = 4;

struct Address {
  explicit Address(const std::string& name) {
    value.sun_family = AF_UNIX;
    // A name that begins with a zero is not a file.
    name.copy(value.sun_path + 1, sizeof(value.sun_path) - 1);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }

  sockaddr_un value{};
  socklen_t length;
};

Descriptor open_socket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) fail("a UNIX socket cannot be created: ", std::strerror(errno));
  return socket;
}

bool wait_for_input(const Descriptor& socket, std::chrono::milliseconds limit) {
  pollfd waiting{socket.get(), POLLIN, 0};
  int result = 0;
  do {
    result = poll(&waiting, 1, static_cast<int>(limit.count()));
  } while (result < 0 && errno == EINTR);
  return result > 0;
}

bool is_of_this_user(const Descriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/// A message of one number, with room for descriptors beside it.
struct Message {
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
  Message(const Message&) = delete;

  int32_t number = 0;
  iovec part{&number, sizeof(number)};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr header{};
};

}  // namespace

Descriptor listen_at(const std::string& name) {
  auto socket = open_socket();
  Address address(name);
  if (bind(socket.get(), address.get(), address.length) != 0 || listen(socket.get(), 1024) != 0) {
    fail("cannot listen at the UNIX socket '", name, "': ", std::strerror(errno));
  }
  return socket;
}

std::optional<Descriptor> accept_from(const Descriptor& listener, std::chrono::milliseconds limit) {
  if (!wait_for_input(listener, limit)) return std::nullopt;
  Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket || !is_of_this_user(socket)) return std::nullopt;
  return socket;
}

Descriptor connect_to(const std::string& name) {
  auto socket = open_socket();
  Address address(name);
  int error = 0;
  do {
    error = connect(socket.get(), address.get(), address.length) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error != 0) fail("rank 0 cannot be reached through a UNIX socket: ", std::strerror(error));
  return socket;
}

void send_descriptors(const Descriptor& socket, int32_t number, const std::vector<int>& descriptors) {
  Message message;
  message.number = number;
  size_t bytes = descriptors.size() * sizeof(int);
  auto* entry = CMSG_FIRSTHDR(&message.header);
  entry->cmsg_level = SOL_SOCKET;
  entry->cmsg_type = SCM_RIGHTS;
  entry->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(entry), descriptors.data(), bytes);
  message.header.msg_controllen = CMSG_SPACE(bytes);
  if (sendmsg(socket.get(), &message.header, MSG_NOSIGNAL) < 0) {
    fail("file descriptors cannot be sent to another rank: ", std::strerror(errno));
  }
}

ReceivedDescriptors receive_descriptors(const Descriptor& socket, std::chrono::milliseconds limit) {
  if (!wait_for_input(socket, limit)) fail("another rank did not send its memory in ", limit.count() / 1000.0, " s");
  Message message;
  auto num_bytes = recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC);
  if (num_bytes < 0) fail("file descriptors cannot be received: ", std::strerror(errno));
  if (num_bytes == 0) fail("another rank has closed the connection before it sent its memory");
  ReceivedDescriptors received{.number = message.number, .descriptors = {}};
  auto* entry = CMSG_FIRSTHDR(&message.header);
  if (!entry || entry->cmsg_type != SCM_RIGHTS) fail("another rank sent no file descriptors");
  size_t count = (entry->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(entry) + i * sizeof(int), sizeof(int));
    received.descriptors.emplace_back(fd);
  }
  if (message.header.msg_flags & MSG_CTRUNC) {
    fail("this process cannot open more files; raise its limit (ulimit -n)");
  }
  return received;
}

}  // namespace accelerate::shared_memory
