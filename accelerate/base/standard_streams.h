#pragma once

// Standard input, output and error of a process that was started without some of them.

namespace accelerate {

/// Gives /dev/null to the standard streams that are closed, as by `<&- >&-` in a shell. Otherwise the next file or
/// socket would get the number of such a stream, and what is printed would go there. To be called before anything is
/// opened.
void open_closed_streams();

}  // namespace accelerate
