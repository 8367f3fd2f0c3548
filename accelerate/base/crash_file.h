#pragma once

// Reports a crash of this process with a stack trace, in the file that torchrun names in TORCHELASTIC_ERROR_FILE, in
// torch's format.

#include <string_view>

namespace accelerate {

/// Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT that write a report; the signal then ends the
/// process as usual. Signals that the program handles itself are left alone. Does nothing if no launcher has named a
/// file.
void report_crashes();

/// Writes the report with the stack of the caller. The first report of a process is kept. Does nothing without
/// report_crashes().
void write_crash_file(std::string_view message);

}  // namespace accelerate
