#include "accelerate/base/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>

#include "accelerate/base/environment.h"
#include "accelerate/base/log.h"
#include "accelerate/base/utf8.h"

namespace accelerate {

namespace {

constexpr double kTerminalInterval = 0.1;
constexpr double kPlainInterval = 10;

int width_of_standard_error() {
  if (isatty(STDERR_FILENO) == 0) return 0;
  winsize size{};
  bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Whether the user's terminal supports UTF-8.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto value = environment_variable(name).value_or("");
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

ProgressOutput completed(ProgressOutput output) {
  if (!output.stream) output.stream = &std::cerr;
  if (!output.terminal_width) output.terminal_width = width_of_standard_error;
  if (!output.clock) output.clock = steady_seconds;
  return output;
}

/// The bars of this process that are open on a terminal.
struct OpenBars {
  std::mutex mutex;
  std::map<const ProgressBar*, std::function<void()>> bars;  // how each draws its current state
};

OpenBars& open_bars() {
  static auto* bars = new OpenBars;  // never destroyed: static bars close at exit
  return *bars;
}

void add_open_bar(const ProgressBar* bar, std::function<void()> draw) {
  std::lock_guard lock(open_bars().mutex);
  open_bars().bars[bar] = std::move(draw);
}

void remove_open_bar(const ProgressBar* bar) {
  std::lock_guard lock(open_bars().mutex);
  open_bars().bars.erase(bar);
}

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

ProgressBar::ProgressBar(std::optional<int64_t> total, ProgressBarOptions options)
    : options_(std::move(options)), cells_(locale_is_utf8() ? BarCells::Blocks : BarCells::Ascii) {
  state_.total = total;
  state_.description = options_.description;
  state_.unit = options_.unit;
  silent_ = options_.disable || (options_.main_process_only && log_context().local_rank != 0);
  if (silent_) return;
  options_.output = completed(std::move(options_.output));
  width_ = options_.output.terminal_width();
  start_ = last_shown_ = options_.output.clock();
  if (width_ == 0) return;
  show(start_);
  add_open_bar(this, [this] {
    if (shown_done_ != state_.done) show(options_.output.clock());
  });
}

void ProgressBar::update(int64_t steps) {
  state_.done += steps;
  if (!silent_) show_if_due();
}

void ProgressBar::set_description(std::string description) {
  state_.description = std::move(description);
  if (!silent_) show_if_due();
}

void ProgressBar::set_postfix(std::string postfix) {
  state_.postfix = std::move(postfix);
  if (!silent_) show_if_due();
}

void ProgressBar::set_postfix(std::initializer_list<std::pair<std::string_view, double>> values) {
  std::string text;
  for (const auto& [name, value] : values) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.3g", value);
    text.append(text.empty() ? "" : ", ").append(name).append("=").append(number);
  }
  set_postfix(std::move(text));
}

void ProgressBar::show_if_due() {
  if (closed_) return;
  double now = options_.output.clock();
  // A bar that is never closed, such as a variable of a notebook, shows its final state too.
  bool full = width_ > 0 && state_.total && state_.done >= *state_.total && shown_done_ < *state_.total;
  if (!full && now - last_shown_ < (width_ > 0 ? kTerminalInterval : kPlainInterval)) return;
  update_rate(now);
  show(now);
}

void ProgressBar::update_rate(double now) {
  // Steps and seconds are averaged separately, so that a long pause has the weight of its duration.
  auto steps = static_cast<double>(state_.done - last_done_);
  if (steps <= 0) return;
  bool first = seconds_average_ == 0;
  double weight = first ? 1 : options_.smoothing;
  steps_average_ += weight * (steps - steps_average_);
  seconds_average_ += weight * (now - last_shown_ - seconds_average_);
  state_.rate = seconds_average_ > 0 ? steps_average_ / seconds_average_ : 0;
}

void ProgressBar::show(double now) {
  state_.elapsed_seconds = now - start_;
  last_shown_ = now;
  last_done_ = state_.done;
  shown_done_ = state_.done;
  // One write per line, so that lines of other processes never appear within a line.
  if (width_ > 0) {
    width_ = std::max(2, options_.output.terminal_width());
    auto line = format_progress(state_, width_ - 1, cells_);  // some terminals wrap a full line
    *options_.output.stream << "\r" + line + "\033[K" << std::flush;
  } else {
    *options_.output.stream << format_progress(state_, 0, cells_) + "\n" << std::flush;
  }
}

void ProgressBar::close() {
  if (silent_ || closed_) return;
  closed_ = true;
  remove_open_bar(this);
  double now = options_.output.clock();
  double elapsed = now - start_;
  state_.rate = elapsed > 0 ? static_cast<double>(state_.done) / elapsed : 0;
  bool on_terminal = width_ > 0;
  if (on_terminal || shown_done_ != state_.done) show(now);
  if (on_terminal) *options_.output.stream << (options_.leave ? "\n" : "\r\033[K") << std::flush;
}

void draw_open_bars() {
  std::lock_guard lock(open_bars().mutex);
  for (const auto& [bar, draw] : open_bars().bars) draw();
}

}  // namespace accelerate
