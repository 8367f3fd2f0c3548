#include "accelerate/base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace accelerate {

void open_closed_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    bool closed = fcntl(stream, F_GETFD) < 0 && errno == EBADF;
    // open returns the lowest free number. This is the stream's, because those below are open by now.
    if (closed && open("/dev/null", O_RDWR) < 0) return;
  }
}

}  // namespace accelerate
