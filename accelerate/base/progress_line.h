#pragma once

// One line that tells how far a loop has come. Pure text; ProgressBar decides when and where it is shown.

#include <cstdint>
#include <optional>
#include <string>

namespace accelerate {

struct ProgressState {
  int64_t done = 0;
  std::optional<int64_t> total = std::nullopt;
  double elapsed_seconds = 0;
  double rate = 0;  // steps per second; 0 while unknown
  std::string description = {};
  std::string postfix = {};
  std::string unit = "it";
};

enum class BarCells { Blocks, Ascii };

/// The line, at most `width` characters long: "train:  45%|####5     | 45/100 [00:05<00:06,  8.50it/s, loss=0.3]". A
/// bar too small to say anything is left out, as for `width` 0, which means a line of any length. Without a total there
/// is no bar, percentage or time that remains.
std::string format_progress(const ProgressState& state, int width, BarCells cells = BarCells::Blocks);

/// "00:05", "12:34" or "1:02:03".
std::string format_interval(double seconds);

}  // namespace accelerate
