#include "notebook/protocol/frames.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"

namespace accelerate::notebook {

bool write_frame(int pipe, std::string_view text) {
  // A flock(2) belongs to the open file description, which forked processes share with their parent. So each writer
  // opens the pipe again.
  int own = open(("/proc/self/fd/" + std::to_string(pipe)).c_str(), O_WRONLY | O_CLOEXEC);
  if (own < 0) return false;
  ScopeExit close_own([&] { close(own); });
  while (flock(own, LOCK_EX) != 0 && errno == EINTR) {
  }
  return write_all(own, std::to_string(text.size()) + "\n" + std::string(text));
}

bool FrameReader::read_some() {
  char block[1 << 16];
  for (;;) {
    auto size = read(pipe_, block, sizeof(block));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    pending_.append(block, static_cast<size_t>(size));
    return true;
  }
}

std::optional<std::string> FrameReader::take() {
  auto newline = pending_.find('\n');
  if (newline == std::string::npos) return std::nullopt;
  size_t size = 0;
  auto [end, error] = std::from_chars(pending_.data(), pending_.data() + newline, size);
  if (error != std::errc() || end != pending_.data() + newline) {
    fail("the notebook's processes disagree about their protocol: '", pending_.substr(0, newline), "' is not a length");
  }
  if (pending_.size() < newline + 1 + size) return std::nullopt;
  auto frame = pending_.substr(newline + 1, size);
  pending_.erase(0, newline + 1 + size);
  return frame;
}

std::optional<std::string> FrameReader::wait() {
  for (;;) {
    if (auto frame = take()) return frame;
    if (!read_some()) return std::nullopt;
  }
}

}  // namespace accelerate::notebook
