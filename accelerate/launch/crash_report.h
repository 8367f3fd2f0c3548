#pragma once

// The error.json of a rank: its error message and its stack trace.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace accelerate::launch {

struct CrashReport {
  std::string message = {};
  std::vector<std::string> frames = {};      // innermost first; for Python the lines of the traceback
  std::vector<std::string> own_frames = {};  // frames of the user's code with a known file and line
};

/// Reads a file in the format of torchelastic. Nothing if it does not exist or cannot be parsed. Resolves addresses of
/// C++ programs to functions, files and lines, and writes these back to the file.
std::optional<CrashReport> read_crash_report(const std::filesystem::path& error_file);

}  // namespace accelerate::launch
