#pragma once

// What a user sees of an exception that nobody caught: its message, not the backtrace of the library.

#include <exception>
#include <string>

namespace accelerate {

/// The message without the C++ frames that libtorch appends to its own.
std::string message_of(const std::exception& error);

/// From now on an exception that leaves main ends the process with one line on standard error and exit code 1, so that
/// other ranks and the launcher notice at once. A terminate handler that the program has set itself stays. This and a
/// crash leave a report for the launcher (crash_file.h).
void report_uncaught_exceptions();

}  // namespace accelerate
