#pragma once

// The options that only some schedules take.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace transformers::schedules {

/// One value for all groups of parameters, or one for each.
using PerGroup = std::variant<double, std::vector<double>>;

/// What only some schedules take, under Python's names. One that is left empty has the default of its schedule; one
/// that is given to a schedule which does not take it is an error.
struct SchedulerSpecificKwargs {
  std::optional<double> num_cycles = {};      // of a cosine: 0.5 falls once; with restarts: how often it falls
  std::optional<double> lr_end = {};          // of polynomial: 1e-7
  std::optional<double> power = {};           // of polynomial: 1
  std::optional<int64_t> timescale = {};      // of inverse_sqrt: the warm-up, or 10,000
  std::optional<PerGroup> min_lr = {};        // the lowest rate
  std::optional<double> min_lr_rate = {};     // the same as a part of the initial one
  std::optional<double> warmup_lr_rate = {};  // where the warm-up of cosine_warmup_with_min_lr begins

  std::optional<int64_t> num_decay_steps = {};  // of warmup_stable_decay, which needs it
  std::optional<int64_t> num_stable_steps = {};
  std::optional<std::string> warmup_type = {};  // linear, cosine or 1-sqrt
  std::optional<std::string> decay_type = {};   // cosine, linear or 1-sqrt
  std::optional<double> min_lr_ratio = {};

  std::optional<std::string> mode = {};  // of a schedule that follows a metric: min or max
  std::optional<double> factor = {};
  std::optional<int64_t> patience = {};
  std::optional<double> threshold = {};
  std::optional<std::string> threshold_mode = {};  // rel or abs
  std::optional<int64_t> cooldown = {};
  std::optional<double> eps = {};
  std::optional<int64_t> warmup = {};  // of greedy, as the following
  std::optional<PerGroup> max_lr = {};
  std::optional<bool> smooth = {};
  std::optional<int64_t> window_size = {};
  std::optional<int64_t> reset_start = {};
  std::optional<bool> verbose = {};
};

/// The names of the options that are given.
std::set<std::string_view> names_of_given(const SchedulerSpecificKwargs& kwargs);

}  // namespace transformers::schedules

namespace transformers {
using schedules::SchedulerSpecificKwargs;
}
