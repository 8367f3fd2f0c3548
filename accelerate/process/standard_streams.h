#pragma once

// The standard streams of processes: repairs those that are closed, and opens terminals for those of children.

#include <sys/ioctl.h>

#include <optional>

#include "accelerate/base/descriptor.h"

namespace accelerate::process {

/// Opens /dev/null for standard streams that are closed, as by `<&- >&-` in a shell. Otherwise the next file or socket
/// would get the number of such a stream and receive its output. Call it before anything is opened.
void open_closed_streams();

/// Opens a pseudo-terminal of that size, see pty(7). A child writes to `write_end` as to a terminal, so it flushes
/// every line and draws progress bars; `read_end` gives its output unchanged. Nothing if the system has none left;
/// errno has the reason.
std::optional<Pipe> open_terminal(const winsize& size);

}  // namespace accelerate::process
