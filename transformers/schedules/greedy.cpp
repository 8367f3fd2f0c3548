#include "transformers/schedules/metric_schedules.h"

#include <algorithm>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"

namespace transformers::schedules {

GreedyLR::GreedyLR(torch::optim::Optimizer& optimizer, GreedyOptions options)
    : Schedule(optimizer),
      options_(std::move(options)),
      initial_lrs_(learning_rates()),
      best_(options_.improvement.worst()),
      reset_countdown_(options_.reset_start) {
  check_options(options_, initial_lrs_.size(), "greedy");
  if (options_.max_lrs.size() != initial_lrs_.size()) {
    accelerate::fail("greedy: max_lr has ", options_.max_lrs.size(), " values; the optimizer has ", initial_lrs_.size(),
                     " groups of parameters");
  }
}

void GreedyLR::step(double metric) {
  const double value = options_.smooth ? smoothed(metric) : metric;
  ++last_epoch_;
  if (cooldown_counter_ > 0 || warmup_counter_ > 0) {
    --(cooldown_counter_ > 0 ? cooldown_counter_ : warmup_counter_);
    num_bad_epochs_ = num_good_epochs_ = 0;
    return;
  }
  count(value);
  if (num_good_epochs_ > options_.patience) {
    raise();
    warmup_counter_ = options_.warmup;
    num_good_epochs_ = 0;
  } else if (num_bad_epochs_ > options_.patience) {
    reduce();
    cooldown_counter_ = options_.cooldown;
    num_bad_epochs_ = 0;
  }
}

double GreedyLR::smoothed(double metric) {
  window_.push_back(metric);
  window_sum_ += metric;
  if (static_cast<int64_t>(window_.size()) > options_.window_size) {
    window_sum_ -= window_.front();
    window_.pop_front();
  }
  return window_sum_ / static_cast<double>(window_.size());
}

void GreedyLR::count(double value) {
  if (options_.improvement.is_better(value, best_)) {
    best_ = value;
    num_bad_epochs_ = 0;
    ++num_good_epochs_;
  } else {
    ++num_bad_epochs_;
    num_good_epochs_ = 0;
  }
}

void GreedyLR::raise() {
  auto rates = learning_rates();
  for (size_t i = 0; i < rates.size(); ++i) {
    const double raised = std::min(rates[i] / options_.factor, options_.max_lrs[i]);
    if (raised - rates[i] > options_.eps) rates[i] = raised;
  }
  change(rates, "raised");
  reset_countdown_ = options_.reset_start;
}

void GreedyLR::reduce() {
  auto rates = learning_rates();
  bool all_at_bound = true;
  for (size_t i = 0; i < rates.size(); ++i) {
    const double reduced = std::max(rates[i] * options_.factor, options_.min_lrs[i]);
    if (rates[i] - reduced > options_.eps) rates[i] = reduced;
    all_at_bound = all_at_bound && rates[i] <= options_.min_lrs[i];
  }
  change(rates, "reduced");
  if (all_at_bound && --reset_countdown_ <= 0) reset();
}

void GreedyLR::change(const std::vector<double>& rates, const char* direction) {
  const auto before = learning_rates();
  set_learning_rates(rates);
  if (!options_.verbose) return;
  static const auto logger = accelerate::get_logger("transformers.schedules", accelerate::LogLevel::Info);
  for (size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] == before[i]) continue;
    std::ostringstream line;
    line << "greedy, step " << last_epoch_ << ": the learning rate of group " << i << " is " << direction << " to "
         << rates[i];
    logger.info(line.str());
  }
}

void GreedyLR::reset() {
  set_learning_rates(initial_lrs_);
  best_ = options_.improvement.worst();
  num_bad_epochs_ = num_good_epochs_ = cooldown_counter_ = warmup_counter_ = 0;
  reset_countdown_ = options_.reset_start;
  window_.clear();
  window_sum_ = 0;
}

template <class Self, class Visit>
void GreedyLR::for_each_field(Self& self, Visit&& visit) {
  for_each_option(self.options_, visit);
  visit("max_lrs", self.options_.max_lrs);
  visit("warmup", self.options_.warmup);
  visit("smooth", self.options_.smooth);
  visit("window_size", self.options_.window_size);
  visit("verbose", self.options_.verbose);
  visit("reset_start_original", self.options_.reset_start);
  visit("reset_start", self.reset_countdown_);
  visit("_init_lrs", self.initial_lrs_);
  visit("best", self.best_);
  visit("num_bad_epochs", self.num_bad_epochs_);
  visit("num_good_epochs", self.num_good_epochs_);
  visit("cooldown_counter", self.cooldown_counter_);
  visit("warmup_counter", self.warmup_counter_);
  visit("last_epoch", self.last_epoch_);
}

ScheduleState GreedyLR::state_dict() const {
  auto state = ScheduleState::dict({{"_last_lr", list_of(learning_rates())}});
  for_each_field(*this, writer(state));
  if (options_.smooth) {
    write_state(state, "_streaming_avg",
                ScheduleState::dict({{"window_size", options_.window_size},
                                     {"values", list_of({window_.begin(), window_.end()})},
                                     {"sum", window_sum_}}));
  }
  return state;
}

void GreedyLR::load_state_dict(const ScheduleState& state) {
  auto rates = learning_rates();
  read_state(state, "_last_lr", rates);
  for_each_field(*this, reader(state));
  window_.clear();
  window_sum_ = 0;
  if (options_.smooth) {
    const auto& average = find_state(state, "_streaming_avg");
    read_state(average, "sum", window_sum_);
    const auto values = read_numbers(average, "values");
    window_.assign(values.begin(), values.end());
  }
  set_learning_rates(rates);
}

}  // namespace transformers::schedules
