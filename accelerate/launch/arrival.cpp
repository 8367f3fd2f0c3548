#include "accelerate/launch/arrival.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kLongestLine = 200;
constexpr auto kPause = std::chrono::milliseconds(100);

/// A descriptor that is closed with the object.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

sockaddr_storage address_of(const std::string& host, int port, socklen_t& size) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    fail("--main_process_ip ", host, " cannot be resolved: ", gai_strerror(error),
         "; give the address of a machine of the job, or a name that this machine knows");
  }
  sockaddr_storage address{};
  std::memcpy(&address, found->ai_addr, found->ai_addrlen);
  size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

/// A socket that listens there, or an empty one when the address is another machine's or taken.
Socket try_to_listen(const sockaddr_storage& address, socklen_t size) {
  Socket socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int on = 1;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  bool bound = bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
  return bound && listen(socket.fd(), SOMAXCONN) == 0 ? std::move(socket) : Socket();
}

Socket try_to_connect(const sockaddr_storage& address, socklen_t size) {
  Socket socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  timeval limit{.tv_sec = 1, .tv_usec = 0};
  setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));  // also for connect
  return connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), size) == 0 ? std::move(socket) : Socket();
}

void send_line(const Socket& socket, const std::string& line) {
  auto text = line + "\n";
  [[maybe_unused]] auto sent = send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL);
}

/// A peer and what it has said so far.
struct Peer {
  Socket socket;
  std::string text = {};
  bool greeted = false;

  /// Takes what has come. Returns false when the peer is gone or talks too much.
  bool receive() {
    char buffer[kLongestLine];
    while (true) {
      auto size = recv(socket.fd(), buffer, sizeof(buffer), MSG_DONTWAIT);
      if (size == 0) return false;
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      text.append(buffer, static_cast<size_t>(size));
      if (text.size() > kLongestLine) return false;
    }
  }
  std::optional<std::string> line() const {
    auto end = text.find('\n');
    return end == std::string::npos ? std::nullopt : std::optional(text.substr(0, end));
  }
};

std::string greeting_of(const JobShape& shape) {
  return "accelerate arrival 1: machines " + std::to_string(shape.num_machines) + " processes " +
         std::to_string(shape.num_processes);
}

std::string disagreement(const std::string& here, const std::string& there) {
  return "the machines do not agree about the job: machine 0 has '" + here + "', another one '" + there +
         "'; give all of them the same --num_machines and --num_processes";
}

/// A port that is free now, for rank 0.
int free_port() {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket.fd(), plain, size) != 0 || getsockname(socket.fd(), plain, &size) != 0) {
    fail("no port is free for rank 0: ", std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

class Deadline {
 public:
  explicit Deadline(std::chrono::seconds timeout) : timeout_(timeout), until_(Clock::now() + timeout) {}
  void check(const std::string& state) const {
    if (Clock::now() > until_) fail(state, "; gave up after ", timeout_.count(), " s");
  }

 private:
  std::chrono::seconds timeout_;
  Clock::time_point until_;
};

/// Greets those who have come; forgets who has gone again, and strangers. Throws Error when one is of another job.
void look_at_peers(std::vector<Peer>& peers, const std::string& greeting) {
  for (size_t i = peers.size(); i-- > 0;) {
    auto& peer = peers[i];
    bool there = peer.receive();
    auto line = peer.line();
    bool stranger = line && !line->starts_with("accelerate arrival");
    if (!there || stranger) {
      peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    peer.greeted = line.has_value();
    if (!line || *line == greeting) continue;
    auto reason = disagreement(greeting, *line);
    for (const auto& told : peers) send_line(told.socket, "no " + reason);
    fail(reason);
  }
}

Arrival host(Socket listener, const JobShape& shape, const Deadline& deadline, SignalWatch& signals) {
  auto greeting = greeting_of(shape);
  std::vector<Peer> peers;
  size_t missing = static_cast<size_t>(shape.num_machines) - 1;
  while (missing > 0) {
    for (int fd; (fd = accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) peers.push_back({Socket(fd)});
    look_at_peers(peers, greeting);
    size_t arrived = 0;
    for (const auto& peer : peers) arrived += peer.greeted;
    if (arrived >= static_cast<size_t>(shape.num_machines) - 1) break;
    missing = static_cast<size_t>(shape.num_machines) - 1 - arrived;
    deadline.check(std::to_string(missing) + " of " + std::to_string(shape.num_machines) +
                   " machines have not arrived");
    if (int number = signals.wait(kPause); number != 0) return {.stopped_by = number};
  }
  Arrival own{.machine_rank = 0, .main_process_port = free_port()};
  int rank = 0;
  for (const auto& peer : peers) {
    if (!peer.greeted) continue;
    ++rank;
    bool one_of_us = rank < shape.num_machines;
    send_line(peer.socket, one_of_us ? "go " + std::to_string(rank) + " " + std::to_string(own.main_process_port)
                                     : "no the job has all of its " + std::to_string(shape.num_machines) + " machines");
  }
  return own;
}

/// Nothing when the host went away before it had an answer.
std::optional<Arrival> ask(Socket socket, const JobShape& shape, const Deadline& deadline, SignalWatch& signals) {
  Peer peer{std::move(socket)};
  send_line(peer.socket, greeting_of(shape));
  while (true) {
    bool there = peer.receive();
    if (auto line = peer.line()) {
      Arrival arrival;
      if (std::sscanf(line->c_str(), "go %d %d", &arrival.machine_rank, &arrival.main_process_port) == 2)
        return arrival;
      if (line->starts_with("no ")) fail(line->substr(3));
      fail("--main_process_port is answered by a program that is no launcher of ours; give another port");
    }
    if (!there) return std::nullopt;
    deadline.check("machine 0 still waits for other machines");
    if (int number = signals.wait(kPause); number != 0) return Arrival{.stopped_by = number};
  }
}

}  // namespace

Arrival arrive(const std::string& host_name, int port, const JobShape& shape, std::chrono::seconds timeout,
               SignalWatch& signals) {
  socklen_t size = 0;
  auto address = address_of(host_name, port, size);
  Deadline deadline(timeout);
  while (true) {
    if (auto listener = try_to_listen(address, size); listener.fd() >= 0) {
      return host(std::move(listener), shape, deadline, signals);
    }
    if (auto socket = try_to_connect(address, size); socket.fd() >= 0) {
      if (auto arrival = ask(std::move(socket), shape, deadline, signals)) return *arrival;
    }
    deadline.check("nobody listens on " + host_name + ", port " + std::to_string(port) +
                   ": the machine with that address has not been started, or cannot be reached");
    if (int number = signals.wait(kPause); number != 0) return {.stopped_by = number};
  }
}

}  // namespace accelerate::launch
