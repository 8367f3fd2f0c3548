#pragma once

// Profiling results per operator: torch.profiler's key_averages() and its table. Torch-free.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace accelerate {

/// One call of an operator, or a user annotation, as the profiler recorded it.
struct FunctionEvent {
  std::string name = {};
  uint64_t thread = 0;
  double start_us = 0;
  double end_us = 0;
  bool is_async = false;  // began and ended in different threads
  bool is_user_annotation = false;
  int64_t cpu_memory_usage = 0;  // bytes allocated minus bytes freed while it ran
  int64_t flops = 0;
  std::vector<std::vector<int64_t>> input_shapes = {};
};

/// All calls of one operator. Times are sums over `count` calls, in microseconds.
struct FunctionEventAvg {
  std::string key = {};
  int64_t count = 0;
  double cpu_time_total = 0;
  double self_cpu_time_total = 0;  // without the operators that it called
  int64_t cpu_memory_usage = 0;
  int64_t self_cpu_memory_usage = 0;
  int64_t flops = 0;
  std::string input_shapes = {};  // with group_by_input_shape
  bool is_async = false;
  bool is_user_annotation = false;
  bool is_top_level = true;  // its first call was not nested in another

  double cpu_time() const { return count == 0 ? 0 : cpu_time_total / count; }
};

struct KeyAveragesOptions {
  bool group_by_input_shape = false;  // count calls with different shapes separately; needs record_shapes
};

struct ProfileTableOptions {
  std::string sort_by = {};  // cpu_time, cpu_time_total, self_cpu_time_total, cpu_memory_usage, self_cpu_memory_usage,
                             // count or flops, the largest first; empty: in the order of the first calls
  int64_t row_limit = 100;   // -1: all
  std::optional<std::string> header = std::nullopt;
  int64_t max_name_column_width = 55;
  int64_t max_shapes_column_width = 80;
  bool top_level_events_only = false;
  std::string time_unit = {};  // "s", "ms" or "us"; empty: chosen for each time
};

/// One element per operator, in the order of first calls.
class KeyAverages {
 public:
  /// `events` are sorted by start time. `profile_memory` and `with_flops` add columns to the table.
  KeyAverages(const std::vector<FunctionEvent>& events, const KeyAveragesOptions& options = {},
              bool profile_memory = false, bool with_flops = false);

  auto begin() const { return averages_.begin(); }
  auto end() const { return averages_.end(); }
  size_t size() const { return averages_.size(); }
  bool empty() const { return averages_.empty(); }

  double self_cpu_time_total() const;

  /// The same table as Python's `key_averages().table()`. Throws Error for an unknown `sort_by` or `time_unit`.
  std::string table(const ProfileTableOptions& options = {}) const;

 private:
  std::vector<FunctionEventAvg> averages_;
  bool profile_memory_;
  bool with_flops_;
};

}  // namespace accelerate
