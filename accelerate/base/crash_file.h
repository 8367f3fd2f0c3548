#pragma once

// What a process writes down about its own crash: the file that torch's launcher names in TORCHELASTIC_ERROR_FILE, in
// torch's form, with the place in the program where it happened.

#include <string_view>

namespace accelerate {

/// From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT leave a report before they end the process as ever. A signal
/// that the program handles itself is left to it.
void report_crashes();

/// Writes the report, with the frames of the caller; the first report of a process stays. Does nothing when no launcher
/// has named a file.
void write_crash_file(std::string_view message);

}  // namespace accelerate
