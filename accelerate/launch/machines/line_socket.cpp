#include "accelerate/launch/machines/line_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace accelerate::launch {

namespace {

constexpr size_t kLongestLine = 4096;

void set(int socket, int level, int option, int value) { setsockopt(socket, level, option, &value, sizeof(value)); }

}  // namespace

LineSocket::LineSocket(Descriptor socket) : socket_(std::move(socket)) {
  // A machine that loses power does not close its connections. Keep-alive probes start after 5 s of silence; three
  // without an answer end the connection.
  set(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket_.get(), IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(socket_.get(), IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(socket_.get(), IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, 11'000);
}

void LineSocket::send(const std::string& line) const {
  auto text = line.substr(0, line.find('\n')).substr(0, kLongestLine - 1) + "\n";
  [[maybe_unused]] auto sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

std::optional<std::string> LineSocket::receive() {
  char buffer[kLongestLine];
  while (!gone_ && text_.find('\n') == std::string::npos) {
    auto size = recv(socket_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (size > 0) text_.append(buffer, static_cast<size_t>(size));
    gone_ = size <= 0 || text_.size() > 2 * kLongestLine;
  }
  auto end = text_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  auto line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

}  // namespace accelerate::launch
