#pragma once

// Shows how far a loop has come: a bar that is redrawn on a terminal, a plain line now and then elsewhere.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "accelerate/base/progress_line.h"

namespace accelerate {

/// Where a bar appears, and the time it goes by. What is left empty is standard error, its terminal and the clock.
struct ProgressOutput {
  std::ostream* stream = nullptr;
  std::function<int()> terminal_width = {};  // characters; 0 when the stream is no terminal
  std::function<double()> clock = {};        // seconds
};

struct ProgressBarOptions {
  std::string description = {};
  bool main_process_only = true;  // of each machine; false shows a bar from every process
  bool disable = false;
  bool leave = true;  // the full bar stays on the terminal
  std::string unit = "it";
  double smoothing = 0.3;  // of the rate: near 0 the average of the whole run, 1 the last moment
  ProgressOutput output = {};
};

/// A progress bar on standard error, on the main process of each machine. Redrawn at most ten times a second on a
/// terminal; otherwise a line every ten seconds and one at the end. For use by one thread.
class ProgressBar {
 public:
  explicit ProgressBar(std::optional<int64_t> total = std::nullopt, ProgressBarOptions options = {});
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { close(); }

  /// Counts `steps` more. Cheap: most calls look at the clock and return.
  void update(int64_t steps = 1);

  void set_description(std::string description);

  /// Text, or values such as {{"loss", 0.25}}, to show at the end of the line.
  void set_postfix(std::string postfix);
  void set_postfix(std::initializer_list<std::pair<std::string_view, double>> values);

  /// Shows the end. Called by the destructor.
  void close();

  int64_t done() const { return state_.done; }
  std::optional<int64_t> total() const { return state_.total; }

 private:
  void show_if_due();
  void show(double now);
  void update_rate(double now);

  ProgressBarOptions options_;
  ProgressState state_;
  BarCells cells_;
  bool silent_;
  bool closed_ = false;
  int width_ = 0;  // of the terminal, or 0
  double start_ = 0;
  double last_shown_ = 0;
  int64_t last_done_ = 0;
  std::optional<int64_t> shown_done_;
  double steps_average_ = 0;
  double seconds_average_ = 0;
};

}  // namespace accelerate
