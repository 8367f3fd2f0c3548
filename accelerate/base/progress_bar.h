#pragma once

// Shows the progress of a loop: a redrawn bar on a terminal, otherwise occasional plain lines.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace accelerate {

/// The progress of a loop, for format_progress().
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

/// The output and clock of a bar. Defaults: standard error, its terminal, the system's clock.
struct ProgressOutput {
  std::ostream* stream = nullptr;
  std::function<int()> terminal_width = {};  // characters; 0 if the stream is not a terminal
  std::function<double()> clock = {};        // seconds
};

struct ProgressBarOptions {
  std::string description = {};
  bool main_process_only = true;  // of each machine; false shows a bar from every process
  bool disable = false;
  bool leave = true;  // keep the full bar on the terminal
  std::string unit = "it";
  double smoothing = 0.3;  // of the rate: near 0 the average of the whole run, 1 only the last interval
  ProgressOutput output = {};
};

/// A progress bar on standard error, on the main process of each machine. On a terminal it is redrawn at most ten times
/// a second; otherwise it prints a line every ten seconds and one at the end. Not thread-safe.
class ProgressBar {
 public:
  explicit ProgressBar(std::optional<int64_t> total = std::nullopt, ProgressBarOptions options = {});
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { close(); }

  /// Advances by `steps`. Cheap: most calls read the clock and return.
  void update(int64_t steps = 1);

  void set_description(std::string description);

  /// Sets the text at the end of the line, or values such as {{"loss", 0.25}}.
  void set_postfix(std::string postfix);
  void set_postfix(std::initializer_list<std::pair<std::string_view, double>> values);

  /// Shows the final state. Called by the destructor.
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

/// Draws all bars of this process that are open on a terminal, as a notebook does at the end of a cell. Not
/// thread-safe: no other thread may use a bar.
void draw_open_bars();

}  // namespace accelerate
