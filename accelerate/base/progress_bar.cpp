#include "accelerate/base/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "accelerate/base/environment.h"
#include "accelerate/base/log.h"
#include "accelerate/base/open_progress_bars.h"

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

}  // namespace

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

}  // namespace accelerate
