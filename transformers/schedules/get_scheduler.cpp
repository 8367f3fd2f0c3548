#include "transformers/schedules/get_scheduler.h"

#include <ranges>
#include <set>
#include <tuple>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/text.h"
#include "transformers/schedules/metric_schedules.h"

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

using accelerate::fail;

namespace {

/// The arguments of a schedule's factory function.
struct Request {
  std::string_view name;
  torch::optim::Optimizer& optimizer;
  int64_t num_warmup_steps;
  std::optional<int64_t> num_training_steps;
  const SchedulerSpecificKwargs& kwargs;

  double initial_lr() const { return optimizer.defaults().get_lr(); }
  size_t num_groups() const { return optimizer.param_groups().size(); }
};

using Options = std::set<std::string_view>;

/// The factory function of a schedule, and the options that it requires.
struct Recipe {
  std::string_view name;
  bool needs_warmup_steps;
  bool needs_training_steps;
  std::optional<Options> takes;  // nothing: takes any and ignores them
  std::shared_ptr<Schedule> (*make)(const Request&);
};

const Options kMetricOptions{"mode", "factor", "patience", "threshold", "threshold_mode", "cooldown", "min_lr", "eps"};

Options with(Options options, std::initializer_list<std::string_view> more) {
  options.insert(more);
  return options;
}

std::shared_ptr<Schedule> by_factor(const Request& request, Factor factor) {
  return std::make_shared<LambdaSchedule>(request.optimizer, std::move(factor));
}

double min_lr_rate(const Request& request) {
  const auto& [min_lr, rate] = std::tie(request.kwargs.min_lr, request.kwargs.min_lr_rate);
  if (min_lr.has_value() == rate.has_value()) {
    fail(request.name, ": give either min_lr or min_lr_rate; ", rate ? "both are" : "neither is", " given");
  }
  if (rate) return *rate;
  if (auto lowest = std::get_if<double>(&*min_lr)) return *lowest / request.initial_lr();
  fail(request.name, ": min_lr is a list; this schedule takes one number for all groups of parameters");
}

std::shared_ptr<Schedule> make_polynomial(const Request& request) {
  const double lr = request.initial_lr(), lr_end = request.kwargs.lr_end.value_or(1e-7);
  if (!(lr > lr_end)) {
    fail("polynomial: lr_end is ", lr_end, " and the learning rate of the optimizer ", lr, "; lr_end must be lower");
  }
  return by_factor(request, polynomial(request.num_warmup_steps, *request.num_training_steps, lr, lr_end,
                                       request.kwargs.power.value_or(1)));
}

std::shared_ptr<Schedule> make_inverse_sqrt(const Request& request) {
  const int64_t usual = request.num_warmup_steps > 0 ? request.num_warmup_steps : 10000;
  const int64_t timescale = request.kwargs.timescale.value_or(usual);
  if (timescale <= 0) fail("inverse_sqrt: timescale is ", timescale, "; it must be positive");
  return by_factor(request, inverse_sqrt(request.num_warmup_steps, timescale));
}

std::shared_ptr<Schedule> make_warmup_stable_decay(const Request& request) {
  const auto& kwargs = request.kwargs;
  if (!kwargs.num_decay_steps) fail("warmup_stable_decay: num_decay_steps is missing");
  if (!request.num_training_steps && !kwargs.num_stable_steps) {
    fail("warmup_stable_decay: give num_training_steps or num_stable_steps");
  }
  if (request.num_training_steps && kwargs.num_stable_steps) {
    accelerate::get_logger("transformers.schedules")
        .warning("warmup_stable_decay: num_stable_steps is given, so num_training_steps is not used");
  }
  Phases phases{.num_warmup_steps = request.num_warmup_steps, .num_decay_steps = *kwargs.num_decay_steps};
  phases.num_stable_steps = kwargs.num_stable_steps
                                ? *kwargs.num_stable_steps
                                : *request.num_training_steps - phases.num_warmup_steps - phases.num_decay_steps;
  phases.warmup_type = kwargs.warmup_type.value_or(phases.warmup_type);
  phases.decay_type = kwargs.decay_type.value_or(phases.decay_type);
  phases.min_lr_ratio = kwargs.min_lr_ratio.value_or(phases.min_lr_ratio);
  phases.num_cycles = kwargs.num_cycles.value_or(phases.num_cycles);
  return by_factor(request, warmup_stable_decay(phases));
}

std::vector<double> for_each_group(const PerGroup& value, size_t num_groups) {
  if (auto one = std::get_if<double>(&value)) return std::vector<double>(num_groups, *one);
  return std::get<std::vector<double>>(value);
}

void fill(MetricOptions& options, const Request& request, double min_lr) {
  const auto& kwargs = request.kwargs;
  options.improvement.mode = kwargs.mode.value_or(options.improvement.mode);
  options.improvement.threshold = kwargs.threshold.value_or(options.improvement.threshold);
  options.improvement.threshold_mode = kwargs.threshold_mode.value_or(options.improvement.threshold_mode);
  options.factor = kwargs.factor.value_or(options.factor);
  options.patience = kwargs.patience.value_or(options.patience);
  options.cooldown = kwargs.cooldown.value_or(options.cooldown);
  options.eps = kwargs.eps.value_or(options.eps);
  options.min_lrs = for_each_group(kwargs.min_lr.value_or(min_lr), request.num_groups());
}

std::shared_ptr<Schedule> make_reduce_lr_on_plateau(const Request& request) {
  MetricOptions options;
  fill(options, request, /*min_lr=*/0);
  return std::make_shared<ReduceLROnPlateau>(request.optimizer, std::move(options));
}

std::shared_ptr<Schedule> make_greedy(const Request& request) {
  const auto& kwargs = request.kwargs;
  GreedyOptions options;
  options.improvement = {.threshold_mode = "abs", .threshold = 1e-6};
  options.factor = 0.95;
  fill(options, request, /*min_lr=*/1e-3);
  options.max_lrs = for_each_group(kwargs.max_lr.value_or(1.0), request.num_groups());
  options.warmup = kwargs.warmup.value_or(options.warmup);
  options.smooth = kwargs.smooth.value_or(options.smooth);
  options.window_size = kwargs.window_size.value_or(options.window_size);
  options.reset_start = kwargs.reset_start.value_or(options.reset_start);
  options.verbose = kwargs.verbose.value_or(options.verbose);
  return std::make_shared<GreedyLR>(request.optimizer, std::move(options));
}

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all{
      {"linear", true, true, Options{},
       [](const Request& r) { return by_factor(r, linear(r.num_warmup_steps, *r.num_training_steps)); }},
      {"cosine", true, true, Options{"num_cycles"},
       [](const Request& r) {
         return by_factor(r, cosine(r.num_warmup_steps, *r.num_training_steps, r.kwargs.num_cycles.value_or(0.5), 0));
       }},
      {"cosine_with_restarts", true, true, Options{"num_cycles"},
       [](const Request& r) {
         return by_factor(
             r, cosine_with_restarts(r.num_warmup_steps, *r.num_training_steps, r.kwargs.num_cycles.value_or(1)));
       }},
      {"polynomial", true, true, Options{"lr_end", "power"}, make_polynomial},
      {"constant", false, false, std::nullopt, [](const Request& r) { return by_factor(r, constant_after_warmup(0)); }},
      {"constant_with_warmup", true, false, std::nullopt,
       [](const Request& r) { return by_factor(r, constant_after_warmup(r.num_warmup_steps)); }},
      {"inverse_sqrt", true, false, Options{"timescale"}, make_inverse_sqrt},
      {"reduce_lr_on_plateau", false, false, kMetricOptions, make_reduce_lr_on_plateau},
      {"cosine_with_min_lr", true, true, Options{"num_cycles", "min_lr", "min_lr_rate"},
       [](const Request& r) {
         return by_factor(
             r, cosine(r.num_warmup_steps, *r.num_training_steps, r.kwargs.num_cycles.value_or(0.5), min_lr_rate(r)));
       }},
      {"cosine_warmup_with_min_lr", true, true, Options{"num_cycles", "min_lr", "min_lr_rate", "warmup_lr_rate"},
       [](const Request& r) {
         return by_factor(
             r, cosine_from_first_step(r.num_warmup_steps, *r.num_training_steps, r.kwargs.num_cycles.value_or(0.5),
                                       min_lr_rate(r), r.kwargs.warmup_lr_rate));
       }},
      {"warmup_stable_decay", true, false,
       Options{"num_decay_steps", "num_stable_steps", "warmup_type", "decay_type", "min_lr_ratio", "num_cycles"},
       make_warmup_stable_decay},
      {"greedy", false, false,
       with(kMetricOptions, {"warmup", "max_lr", "smooth", "window_size", "reset_start", "verbose"}), make_greedy},
  };
  return all;
}

const Recipe& recipe_of(std::string_view name) {
  for (const auto& recipe : recipes()) {
    if (recipe.name == name) return recipe;
  }
  auto known = recipes() | std::views::transform(&Recipe::name);
  fail("get_scheduler: there is no schedule '", name, "'; it can be: ", accelerate::listed(known));
}

void check_steps(const Recipe& recipe, const char* option, const std::optional<int64_t>& steps, bool needed) {
  if (needed && !steps) fail("get_scheduler: ", recipe.name, " needs ", option, ", which is not given");
  if (steps && *steps < 0) fail("get_scheduler: ", option, " is ", *steps, "; it cannot be negative");
}

void check(const Recipe& recipe, const GetSchedulerOptions& options) {
  check_steps(recipe, "num_warmup_steps", options.num_warmup_steps, recipe.needs_warmup_steps);
  check_steps(recipe, "num_training_steps", options.num_training_steps, recipe.needs_training_steps);
  if (!recipe.takes) return;
  for (auto name : names_of_given(options.scheduler_specific_kwargs)) {
    if (recipe.takes->contains(name)) continue;
    fail("get_scheduler: ", recipe.name, " has no option '", name,
         "'; it has: ", recipe.takes->empty() ? "none" : accelerate::listed(*recipe.takes));
  }
}

}  // namespace

LRScheduler get_scheduler(std::string_view name, torch::optim::Optimizer& optimizer,
                          const GetSchedulerOptions& options) {
  const auto& recipe = recipe_of(name);
  check(recipe, options);
  return LRScheduler(recipe.make({.name = name,
                                  .optimizer = optimizer,
                                  .num_warmup_steps = options.num_warmup_steps.value_or(0),
                                  .num_training_steps = options.num_training_steps,
                                  .kwargs = options.scheduler_specific_kwargs}));
}

}  // namespace transformers::schedules
