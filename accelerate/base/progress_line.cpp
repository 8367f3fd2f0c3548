#include "accelerate/base/progress_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "accelerate/base/utf8.h"

namespace accelerate {

namespace {

constexpr int kSmallestBar = 4;

template <class... Values>
std::string printed(const char* format, Values... values) {
  char text[64];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

int count_characters(const std::string& text) {
  return static_cast<int>(text.size() - std::count_if(text.begin(), text.end(), is_utf8_continuation));
}

/// The first `count` characters of UTF-8 text.
std::string first_characters(const std::string& text, int count) {
  auto end =
      std::find_if(text.begin(), text.end(), [&](char byte) { return !is_utf8_continuation(byte) && count-- == 0; });
  return {text.begin(), end};
}

std::string format_rate(double rate, const std::string& unit) {
  if (rate <= 0) return "?" + unit + "/s";
  if (rate < 1) return printed("%5.2f", 1 / rate) + "s/" + unit;
  return printed("%5.2f", rate) + unit + "/s";
}

/// A bar of `size` cells, with a resolution of an eighth (or tenth) of a cell.
std::string format_bar(double fraction, int size, BarCells cells) {
  constexpr std::array<const char*, 9> kBlocks = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  constexpr std::array<const char*, 11> kAscii = {" ", "1", "2", "3", "4", "5", "6", "7", "8", "9", "#"};
  bool with_blocks = cells == BarCells::Blocks;
  int steps = static_cast<int>(with_blocks ? kBlocks.size() : kAscii.size()) - 1;
  int filled = static_cast<int>(fraction * size * steps);
  std::string bar;
  for (int cell = 0; cell < size; ++cell) {
    int level = std::clamp(filled - cell * steps, 0, steps);
    bar += with_blocks ? kBlocks[level] : kAscii[level];
  }
  return bar;
}

}  // namespace

std::string format_interval(double seconds) {
  auto whole = static_cast<long>(std::max(0.0, seconds));
  auto minutes_and_seconds = printed("%02ld:%02ld", whole / 60 % 60, whole % 60);
  return whole < 3600 ? minutes_and_seconds : std::to_string(whole / 3600) + ":" + minutes_and_seconds;
}

std::string format_progress(const ProgressState& state, int width, BarCells cells) {
  bool total_known = state.total && *state.total > 0 && state.done <= *state.total;
  auto rate = format_rate(state.rate, state.unit) + (state.postfix.empty() ? "" : ", " + state.postfix);
  auto left = state.description.empty() ? "" : state.description + ": ";
  auto elapsed = format_interval(state.elapsed_seconds);
  std::string right;
  double fraction = 0;
  if (total_known) {
    fraction = static_cast<double>(state.done) / static_cast<double>(*state.total);
    auto remaining_steps = static_cast<double>(*state.total - state.done);
    auto remaining = state.rate > 0 ? format_interval(remaining_steps / state.rate) : "?";
    left += printed("%3.0f%%", std::floor(fraction * 100));
    right = printed("%lld/%lld [", static_cast<long long>(state.done), static_cast<long long>(*state.total)) + elapsed +
            "<" + remaining + ", " + rate + "]";
  } else {
    left += std::to_string(state.done) + state.unit;
    right.append("[").append(elapsed).append(", ").append(rate).append("]");
  }
  int room = width - count_characters(left) - count_characters(right) - 3;
  if (total_known && room >= kSmallestBar) return left + "|" + format_bar(fraction, room, cells) + "| " + right;
  auto line = left + " " + right;
  return width > 0 ? first_characters(line, width) : line;
}

}  // namespace accelerate
