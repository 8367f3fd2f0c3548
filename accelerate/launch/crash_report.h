#pragma once

// What a rank has left in its error.json: a message and where it was at that moment.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace accelerate::launch {

struct CrashReport {
  std::string message = {};
  std::vector<std::string> frames = {};      // innermost first; for a Python program the lines of its traceback
  std::vector<std::string> own_frames = {};  // those of the user's code whose file and line are known
};

/// Reads a file in the form of torchelastic; nothing when there is none or it cannot be understood. Addresses of
/// programs in C++ are turned into functions, files and lines, and the file is written again with these.
std::optional<CrashReport> read_crash_report(const std::filesystem::path& error_file);

}  // namespace accelerate::launch
