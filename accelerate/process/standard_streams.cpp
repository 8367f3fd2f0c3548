#include "accelerate/process/standard_streams.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace accelerate::process {

void open_closed_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    bool closed = fcntl(stream, F_GETFD) < 0 && errno == EBADF;
    // open returns the lowest free number. This is the stream's, because those below are open by now.
    if (closed && open("/dev/null", O_RDWR) < 0) return;
  }
}

std::optional<Pipe> open_terminal(const winsize& size) {
  Descriptor ours(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!ours || grantpt(ours.get()) != 0 || unlockpt(ours.get()) != 0) return std::nullopt;
  Descriptor theirs(::open(ptsname(ours.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!theirs) return std::nullopt;
  termios settings{};
  tcgetattr(theirs.get(), &settings);
  cfmakeraw(&settings);
  tcsetattr(theirs.get(), TCSANOW, &settings);
  ioctl(theirs.get(), TIOCSWINSZ, &size);
  return Pipe{std::move(ours), std::move(theirs)};
}

}  // namespace accelerate::process
