#include "accelerate/train/one_cycle_lr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include "accelerate/base/error.h"

namespace accelerate::lr_scheduler {

namespace {

using tensors::TorchValue;

constexpr std::array<const char*, 3> kPointNames = {"initial_lr", "max_lr", "min_lr"};  // in the order of Point

template <class Options>
bool set_first_beta(torch::optim::OptimizerOptions& options, double value) {
  auto* adam = dynamic_cast<Options*>(&options);
  if (adam) adam->betas({value, std::get<1>(adam->betas())});
  return adam != nullptr;
}

template <class Options>
bool set_plain_momentum(torch::optim::OptimizerOptions& options, double value) {
  auto* held = dynamic_cast<Options*>(&options);
  if (held) held->momentum(value);
  return held != nullptr;
}

bool uses_beta1(const torch::optim::Optimizer& optimizer) {
  return dynamic_cast<const torch::optim::Adam*>(&optimizer) || dynamic_cast<const torch::optim::AdamW*>(&optimizer);
}

void set_momentum(torch::optim::OptimizerOptions& options, double value) {
  if (set_first_beta<torch::optim::AdamOptions>(options, value) ||
      set_first_beta<torch::optim::AdamWOptions>(options, value) ||
      set_plain_momentum<torch::optim::SGDOptions>(options, value) ||
      set_plain_momentum<torch::optim::RMSpropOptions>(options, value)) {
    return;
  }
  fail("OneCycleLR: cycle_momentum is true, but the optimizer has no momentum; SGD, RMSprop, Adam and AdamW have one");
}

int64_t total_steps_of(const OneCycleLROptions& options) {
  const int64_t steps = options.total_steps != 0 ? options.total_steps : options.epochs * options.steps_per_epoch;
  if (steps < 1) {
    fail("OneCycleLR: total_steps is ", options.total_steps, ", epochs ", options.epochs, " and steps_per_epoch ",
         options.steps_per_epoch, "; give total_steps, or the other two, as positive numbers");
  }
  return steps;
}

void check_anneal_strategy(const std::string& name) {
  if (name != "cos" && name != "linear") fail("OneCycleLR: anneal_strategy is '", name, "'; it can be cos or linear");
}

/// Checks the options and expands max_lr to one value per parameter group.
OneCycleLROptions checked(OneCycleLROptions options, size_t num_groups) {
  options.total_steps = total_steps_of(options);
  check_anneal_strategy(options.anneal_strategy);
  if (!(options.pct_start >= 0 && options.pct_start <= 1)) {
    fail("OneCycleLR: pct_start is ", options.pct_start, "; it can be a number from 0 to 1");
  }
  if (options.max_lr.size() == 1) options.max_lr.resize(num_groups, options.max_lr[0]);
  if (options.max_lr.size() != num_groups) {
    fail("OneCycleLR: max_lr has ", options.max_lr.size(), " values; the optimizer has ", num_groups,
         " groups of parameters");
  }
  return options;
}

/// Sets the initial rates of the schedule before the base class records them.
torch::optim::Optimizer& at_first_rates(torch::optim::Optimizer& optimizer, const OneCycleLROptions& given) {
  auto& groups = optimizer.param_groups();
  const auto options = checked(given, groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    if (options.cycle_momentum) set_momentum(groups[i].options(), options.max_momentum);  // first: it may throw
    groups[i].options().set_lr(options.max_lr[i] / options.div_factor);
  }
  return optimizer;
}

}  // namespace

OneCycleLR::OneCycleLR(torch::optim::Optimizer& optimizer, const OneCycleLROptions& options)
    : LRScheduler(at_first_rates(optimizer, options)), options_(checked(options, optimizer.param_groups().size())) {
  const auto steps = static_cast<double>(options_.total_steps);
  const double rise = options_.pct_start * steps - 1;
  phases_.push_back({rise, Point::Initial, Point::Max});
  if (options_.three_phase) {
    phases_.push_back({2 * options_.pct_start * steps - 2, Point::Max, Point::Initial});
    phases_.push_back({steps - 1, Point::Initial, Point::Min});
  } else {
    phases_.push_back({steps - 1, Point::Max, Point::Min});
  }
  start();
}

double OneCycleLR::lr_at(Point point, size_t group) const {
  const double first = options_.max_lr[group] / options_.div_factor;
  if (point == Point::Max) return options_.max_lr[group];
  return point == Point::Initial ? first : first / options_.final_div_factor;
}

double OneCycleLR::momentum_at(Point point) const {
  return point == Point::Max ? options_.base_momentum : options_.max_momentum;
}

double OneCycleLR::between(double start, double end, double part) const {
  if (options_.anneal_strategy == "linear") return (end - start) * part + start;
  return end + (start - end) / 2.0 * (std::cos(std::numbers::pi * part) + 1);
}

std::vector<double> OneCycleLR::get_lrs() {
  if (epoch() > options_.total_steps) {
    fail("OneCycleLR: this is step ", epoch(), " of a schedule of ", options_.total_steps, "; give more total_steps");
  }
  const auto step = static_cast<double>(epoch());
  auto phase = std::find_if(phases_.begin(), phases_.end() - 1, [&](const auto& one) { return step <= one.end_step; });
  const double start_step = phase == phases_.begin() ? 0.0 : std::prev(phase)->end_step;
  if (phase->end_step == start_step) {
    fail("OneCycleLR: a phase has no steps, with total_steps = ", options_.total_steps,
         " and pct_start = ", options_.pct_start, "; use more steps or another pct_start");
  }
  const double part = (step - start_step) / (phase->end_step - start_step);
  auto& groups = optimizer().param_groups();
  std::vector<double> lrs;
  for (size_t i = 0; i < groups.size(); ++i) {
    lrs.push_back(between(lr_at(phase->start, i), lr_at(phase->end, i), part));
    if (!options_.cycle_momentum) continue;
    set_momentum(groups[i].options(), between(momentum_at(phase->start), momentum_at(phase->end), part));
  }
  return lrs;
}

TorchValue OneCycleLR::value_of(const Phase& phase, bool is_last) {
  auto momentum_name = [](Point point) { return point == Point::Max ? "base_momentum" : "max_momentum"; };
  auto end_step = is_last ? TorchValue(static_cast<int64_t>(phase.end_step)) : TorchValue(phase.end_step);
  return TorchValue::dict({{"end_step", std::move(end_step)},
                           {"start_lr", kPointNames[static_cast<size_t>(phase.start)]},
                           {"end_lr", kPointNames[static_cast<size_t>(phase.end)]},
                           {"start_momentum", momentum_name(phase.start)},
                           {"end_momentum", momentum_name(phase.end)}});
}

OneCycleLR::Phase OneCycleLR::phase_in(const TorchValue& value) {
  auto point = [&](const char* key) {
    const auto& name = value.at(key).text();
    const auto found = std::find(kPointNames.begin(), kPointNames.end(), name);
    if (found == kPointNames.end()) {
      fail("OneCycleLR: '", key, "' of a phase is '", name, "'; it can be initial_lr, max_lr or min_lr");
    }
    return static_cast<Point>(found - kPointNames.begin());
  };
  return {value.at("end_step").number(), point("start_lr"), point("end_lr")};
}

TorchValue OneCycleLR::state_dict() const {
  auto phases = TorchValue::list();
  for (const auto& phase : phases_) phases.items().push_back(value_of(phase, &phase == &phases_.back()));
  auto state = TorchValue::dict({{"total_steps", options_.total_steps},
                                 {"_schedule_phases", std::move(phases)},
                                 {"_anneal_func_type", options_.anneal_strategy},
                                 {"cycle_momentum", options_.cycle_momentum}});
  if (options_.cycle_momentum) state.entries().emplace_back("use_beta1", uses_beta1(optimizer()));
  auto rest = LRScheduler::state_dict();
  for (auto& entry : rest.entries()) state.entries().push_back(std::move(entry));
  return state;
}

void OneCycleLR::load_state_dict(const TorchValue& state) {
  auto options = options_;
  options.total_steps = state.at("total_steps").integer();
  options.anneal_strategy = state.at("_anneal_func_type").text();
  options.cycle_momentum = state.at("cycle_momentum").boolean();
  check_anneal_strategy(options.anneal_strategy);
  std::vector<Phase> phases;
  for (const auto& phase : state.at("_schedule_phases").items()) phases.push_back(phase_in(phase));
  if (phases.empty()) fail("OneCycleLR: the state has no phases");
  LRScheduler::load_state_dict(state);
  options_ = std::move(options);
  phases_ = std::move(phases);
}

}  // namespace accelerate::lr_scheduler
