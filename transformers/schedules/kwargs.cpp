#include "transformers/schedules/kwargs.h"

namespace transformers::schedules {

std::set<std::string_view> names_of_given(const SchedulerSpecificKwargs& kwargs) {
  std::set<std::string_view> names;
  auto note = [&](std::string_view name, const auto& value) {
    if (value) names.insert(name);
  };
  note("num_cycles", kwargs.num_cycles);
  note("lr_end", kwargs.lr_end);
  note("power", kwargs.power);
  note("timescale", kwargs.timescale);
  note("min_lr", kwargs.min_lr);
  note("min_lr_rate", kwargs.min_lr_rate);
  note("warmup_lr_rate", kwargs.warmup_lr_rate);
  note("num_decay_steps", kwargs.num_decay_steps);
  note("num_stable_steps", kwargs.num_stable_steps);
  note("warmup_type", kwargs.warmup_type);
  note("decay_type", kwargs.decay_type);
  note("min_lr_ratio", kwargs.min_lr_ratio);
  note("mode", kwargs.mode);
  note("factor", kwargs.factor);
  note("patience", kwargs.patience);
  note("threshold", kwargs.threshold);
  note("threshold_mode", kwargs.threshold_mode);
  note("cooldown", kwargs.cooldown);
  note("eps", kwargs.eps);
  note("warmup", kwargs.warmup);
  note("max_lr", kwargs.max_lr);
  note("smooth", kwargs.smooth);
  note("window_size", kwargs.window_size);
  note("reset_start", kwargs.reset_start);
  note("verbose", kwargs.verbose);
  return names;
}

}  // namespace transformers::schedules
