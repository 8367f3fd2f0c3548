#pragma once

// Reports why this process ends early. The message of an uncaught exception goes to standard error. For the launcher,
// the message and stack trace of an uncaught exception or a crash go to the file that TORCHELASTIC_ERROR_FILE names, in
// the format of torchelastic.

#include <exception>
#include <string>
#include <string_view>

namespace accelerate::process {

/// The message without the C++ frames that libtorch appends.
std::string message_of(const std::exception& error);

/// Installs a terminate handler: an exception that leaves main ends the process with one line on standard error and
/// exit code 1, so that other ranks and the launcher notice at once. A terminate handler of the program is left alone.
/// After report_crashes() the message is in the report for the launcher, too.
void report_uncaught_exceptions();

/// Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT that write a report; the signal then ends the
/// process as usual. Signals that the program handles itself are left alone. Does nothing if no launcher has named a
/// file.
void report_crashes();

/// Writes the report with the stack of the caller. The first report of a process is kept. Does nothing without
/// report_crashes().
void write_crash_file(std::string_view message);

}  // namespace accelerate::process
