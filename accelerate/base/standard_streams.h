#pragma once

// Repairs standard input, output and error in a process that was started without them.

namespace accelerate {

/// Opens /dev/null for standard streams that are closed, as by `<&- >&-` in a shell. Otherwise the next file or socket
/// would get the number of such a stream and receive its output. Call it before anything is opened.
void open_closed_streams();

}  // namespace accelerate
