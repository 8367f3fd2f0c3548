#pragma once

// Formats the progress of a loop as one line of text. ProgressBar decides when and where to show it.

#include <cstdint>
#include <optional>
#include <string>

namespace accelerate {

struct ProgressState {
  int64_t done = 0;
  std::optional<int64_t> total = std::nullopt;
  double elapsed_seconds = 0;
  double rate = 0;  // steps per second; 0 if unknown
  std::string description = {};
  std::string postfix = {};
  std::string unit = "it";
};

enum class BarCells { Blocks, Ascii };

/// The line, at most `width` characters: "train:  45%|####5     | 45/100 [00:05<00:06,  8.50it/s, loss=0.3]". Omits a
/// bar that would be too small. `width` 0 means no limit and no bar. Without a total there is no bar, percentage or
/// remaining time.
std::string format_progress(const ProgressState& state, int width, BarCells cells = BarCells::Blocks);

/// "00:05", "12:34" or "1:02:03".
std::string format_interval(double seconds);

}  // namespace accelerate
