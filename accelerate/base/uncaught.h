#pragma once

// Reports an uncaught exception by its message, without the library's backtrace.

#include <exception>
#include <string>

namespace accelerate {

/// The message without the C++ frames that libtorch appends.
std::string message_of(const std::exception& error);

/// Installs a terminate handler: an exception that leaves main ends the process with one line on standard error and
/// exit code 1, so that other ranks and the launcher notice at once. A terminate handler of the program is left alone.
/// After report_crashes() (crash_file.h) the message is in the report for the launcher, too.
void report_uncaught_exceptions();

}  // namespace accelerate
