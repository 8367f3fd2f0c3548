#include "transformers/schedules/get_scheduler.h"
#include "tests/support/torch.h"

#include <cmath>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/train/scheduler.h"
#include "tests/parity/recorded.h"

using accelerate::Error;
using accelerate::tests::json;
using accelerate::tests::recorded;
using namespace transformers;

namespace {

/// Two groups of parameters with different rates, as in the reference.
struct TwoGroups {
  TwoGroups() { adamw.add_param_group({{bias}, std::make_unique<torch::optim::AdamWOptions>(2e-5)}); }

  std::vector<double> rates() {
    std::vector<double> rates;
    for (auto& group : adamw.param_groups()) rates.push_back(group.options().get_lr());
    return rates;
  }

  torch::Tensor weight = torch::zeros({1}, torch::requires_grad());
  torch::Tensor bias = torch::zeros({1}, torch::requires_grad());
  torch::optim::AdamW adamw{{weight}, 3e-5};
};

template <class T>
void take(const json& from, const char* key, std::optional<T>& to) {
  if (!from.contains(key) || from.at(key).is_null()) return;
  if constexpr (std::is_same_v<T, schedules::PerGroup>)
    to = from.at(key).get<double>();
  else
    to = from.at(key).get<T>();
}

GetSchedulerOptions options_of(const json& recorded_case) {
  GetSchedulerOptions options;
  take(recorded_case, "num_warmup_steps", options.num_warmup_steps);
  take(recorded_case, "num_training_steps", options.num_training_steps);
  const auto& from = recorded_case.at("kwargs");
  auto& kwargs = options.scheduler_specific_kwargs;
  take(from, "num_cycles", kwargs.num_cycles);
  take(from, "lr_end", kwargs.lr_end);
  take(from, "power", kwargs.power);
  take(from, "timescale", kwargs.timescale);
  take(from, "min_lr", kwargs.min_lr);
  take(from, "min_lr_rate", kwargs.min_lr_rate);
  take(from, "warmup_lr_rate", kwargs.warmup_lr_rate);
  take(from, "num_decay_steps", kwargs.num_decay_steps);
  take(from, "num_stable_steps", kwargs.num_stable_steps);
  take(from, "warmup_type", kwargs.warmup_type);
  take(from, "decay_type", kwargs.decay_type);
  take(from, "min_lr_ratio", kwargs.min_lr_ratio);
  take(from, "mode", kwargs.mode);
  take(from, "factor", kwargs.factor);
  take(from, "patience", kwargs.patience);
  take(from, "threshold", kwargs.threshold);
  take(from, "threshold_mode", kwargs.threshold_mode);
  take(from, "cooldown", kwargs.cooldown);
  take(from, "eps", kwargs.eps);
  take(from, "warmup", kwargs.warmup);
  take(from, "max_lr", kwargs.max_lr);
  take(from, "smooth", kwargs.smooth);
  take(from, "window_size", kwargs.window_size);
  take(from, "reset_start", kwargs.reset_start);
  return options;
}

json as_json(const ScheduleState& value) {
  using accelerate::formats::ValueKind;
  switch (value.kind()) {
    case ValueKind::Bool:
      return value.boolean();
    case ValueKind::Integer:
      return value.integer();
    case ValueKind::Float:
      return std::isinf(value.number()) ? json(value.number() > 0 ? "inf" : "-inf") : json(value.number());
    case ValueKind::Text:
      return value.text();
    case ValueKind::List: {
      auto parts = json::array();
      for (const auto& part : value.items()) parts.push_back(as_json(part));
      return parts;
    }
    case ValueKind::Dict: {
      auto parts = json::object();
      for (const auto& [key, part] : value.entries()) parts[key.text()] = as_json(part);
      return parts;
    }
    default:
      return nullptr;
  }
}

ScheduleState from_json(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value == "inf" || value == "-inf") return std::stod(value.get<std::string>());
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    auto list = ScheduleState::list();
    for (const auto& part : value) list.items().push_back(from_json(part));
    return list;
  }
  if (!value.is_object()) return {};
  auto state = ScheduleState::dict();
  for (const auto& [key, part] : value.items()) state.entries().emplace_back(key, from_json(part));
  return state;
}

void step(LRScheduler& scheduler, const std::string& name, double metric) {
  if (name == "reduce_lr_on_plateau" || name == "greedy")
    scheduler.step(metric);
  else
    scheduler.step();
}

}  // namespace

TEST_CASE("every schedule gives Python's learning rates to the bit, and ends in Python's state") {
  const auto reference = recorded("lr_schedules");
  const std::vector<double> metrics = reference.at("metrics");
  for (const auto& wanted : reference.at("cases")) {
    const std::string name = wanted.at("name");
    CAPTURE(name);
    CAPTURE(wanted.at("kwargs").dump());
    TwoGroups groups;
    auto scheduler = get_scheduler(name, groups.adamw, options_of(wanted));
    json rates{groups.rates()};
    for (size_t i = 0; i + 1 < wanted.at("rates").size(); ++i) {
      step(scheduler, name, metrics[i % metrics.size()]);
      rates.push_back(groups.rates());
    }
    CHECK(rates == wanted.at("rates"));
    CHECK(scheduler.get_last_lr() == groups.rates());
    auto state = as_json(scheduler.state_dict());
    auto python = wanted.at("state");
    if (python.contains("lr_lambdas")) python["lr_lambdas"] = json::array({nullptr, nullptr});
    CHECK(state == python);
  }
}

TEST_CASE("a schedule goes on from its own state and from Python's") {
  const auto reference = recorded("lr_schedules");
  const std::vector<double> metrics = reference.at("metrics");
  for (const auto& wanted : reference.at("cases")) {
    const std::string name = wanted.at("name");
    CAPTURE(name);
    CAPTURE(wanted.at("kwargs").dump());
    TwoGroups whole, half, python;
    auto uninterrupted = get_scheduler(name, whole.adamw, options_of(wanted));
    const size_t num_steps = wanted.at("rates").size() - 1;
    for (size_t i = 0; i < num_steps; ++i) step(uninterrupted, name, metrics[i % metrics.size()]);

    auto resumed = get_scheduler(name, half.adamw, options_of(wanted));
    resumed.load_state_dict(uninterrupted.state_dict());
    auto from_python = get_scheduler(name, python.adamw, options_of(wanted));
    from_python.load_state_dict(from_json(wanted.at("state")));
    for (size_t i = num_steps; i < num_steps + 12; ++i) {
      for (auto* scheduler : {&uninterrupted, &resumed, &from_python}) {
        step(*scheduler, name, metrics[(i + 3) % metrics.size()]);
      }
      CHECK(half.rates() == whole.rates());
      CHECK(python.rates() == whole.rates());
    }
  }
}

TEST_CASE("a bound may differ between groups of parameters") {
  TwoGroups groups;
  auto scheduler = get_scheduler("reduce_lr_on_plateau", groups.adamw,
                                 {.scheduler_specific_kwargs = {.min_lr = std::vector{1e-5, 4e-6}, .patience = 0}});
  for (int i = 0; i < 5; ++i) scheduler.step(1.0);
  CHECK(groups.rates() == std::vector{1e-5, 4e-6});
  CHECK(scheduler.state_dict().at("default_min_lr").is_none());
  CHECK_THROWS_WITH_AS(
      get_scheduler("greedy", groups.adamw, {.scheduler_specific_kwargs = {.max_lr = std::vector{1.0}}}),
      "greedy: max_lr has 1 values; the optimizer has 2 groups of parameters", Error);
}

TEST_CASE("a schedule can be made of a prepared optimizer, and be prepared itself") {
  auto weight = torch::zeros({1}, torch::requires_grad());
  torch::optim::SGD sgd({weight}, 1.0);
  accelerate::Optimizer optimizer(sgd);
  auto scheduler = get_scheduler("linear", optimizer, {.num_warmup_steps = 0, .num_training_steps = 10});
  auto gradient_state = std::make_shared<accelerate::GradientState>();
  accelerate::Scheduler prepared(scheduler, {optimizer}, gradient_state, {.num_processes = 2});
  prepared.step();
  CHECK(prepared.get_last_lr() == std::vector{0.8});
  CHECK(optimizer.learning_rate() == 0.8);
}

TEST_CASE("mistakes are named before training begins") {
  TwoGroups groups;
  auto make = [&](const char* name, GetSchedulerOptions options) { get_scheduler(name, groups.adamw, options); };
  auto with = [](SchedulerSpecificKwargs kwargs) {
    return GetSchedulerOptions{.num_warmup_steps = 0, .num_training_steps = 10, .scheduler_specific_kwargs = kwargs};
  };
  CHECK_THROWS_WITH_AS(
      make("lineer", {}),
      "get_scheduler: there is no schedule 'lineer'; it can be: linear, cosine, "
      "cosine_with_restarts, polynomial, constant, constant_with_warmup, inverse_sqrt, "
      "reduce_lr_on_plateau, cosine_with_min_lr, cosine_warmup_with_min_lr, warmup_stable_decay, greedy",
      Error);
  CHECK_THROWS_WITH_AS(make("linear", {.num_training_steps = 10}),
                       "get_scheduler: linear needs num_warmup_steps, which is not given", Error);
  CHECK_THROWS_WITH_AS(make("cosine", {.num_warmup_steps = 0}),
                       "get_scheduler: cosine needs num_training_steps, which is not given", Error);
  CHECK_THROWS_WITH_AS(make("linear", {.num_warmup_steps = -1, .num_training_steps = 10}),
                       "get_scheduler: num_warmup_steps is -1; it cannot be negative", Error);
  CHECK_THROWS_WITH_AS(make("polynomial", with({.num_cycles = 1})),
                       "get_scheduler: polynomial has no option 'num_cycles'; it has: lr_end, power", Error);
  CHECK_THROWS_WITH_AS(make("linear", with({.power = 1})), doctest::Contains("it has: none"), Error);
  CHECK_THROWS_WITH_AS(make("polynomial", with({.lr_end = 1})), doctest::Contains("lr_end must be lower"), Error);
  CHECK_THROWS_WITH_AS(make("inverse_sqrt", with({.timescale = 0})), doctest::Contains("must be positive"), Error);
  CHECK_THROWS_WITH_AS(make("cosine_with_min_lr", with({})), doctest::Contains("neither is given"), Error);
  CHECK_THROWS_WITH_AS(make("cosine_with_min_lr", with({.min_lr = 1e-6, .min_lr_rate = 0.1})),
                       doctest::Contains("both are given"), Error);
  CHECK_THROWS_WITH_AS(make("warmup_stable_decay", with({})), doctest::Contains("num_decay_steps is missing"), Error);
  CHECK_THROWS_WITH_AS(
      make("warmup_stable_decay", {.num_warmup_steps = 0, .scheduler_specific_kwargs = {.num_decay_steps = 2}}),
      doctest::Contains("give num_training_steps or num_stable_steps"), Error);
  CHECK_THROWS_WITH_AS(make("warmup_stable_decay", with({.num_decay_steps = 2, .decay_type = "exp"})),
                       doctest::Contains("decay_type is 'exp'; it can be linear, cosine or 1-sqrt"), Error);
  CHECK_THROWS_WITH_AS(make("warmup_stable_decay", with({.num_decay_steps = 2, .warmup_type = "exp"})),
                       doctest::Contains("warmup_type is 'exp'"), Error);
  CHECK_THROWS_WITH_AS(make("greedy", with({.factor = 1})), doctest::Contains("factor is 1; it must be below 1"),
                       Error);
  CHECK_THROWS_WITH_AS(make("greedy", with({.mode = "mean"})), doctest::Contains("it can be min or max"), Error);
  CHECK_THROWS_WITH_AS(make("greedy", with({.threshold_mode = "no"})), doctest::Contains("it can be rel or abs"),
                       Error);
}

TEST_CASE("stepping with or without a metric where the schedule wants the other is an error") {
  TwoGroups groups;
  auto plateau = get_scheduler("reduce_lr_on_plateau", groups.adamw);
  CHECK_THROWS_WITH_AS(plateau.step(), doctest::Contains("call step(metric)"), Error);
  auto constant = get_scheduler("constant", groups.adamw);
  CHECK_THROWS_WITH_AS(constant.step(0.5), doctest::Contains("call step()"), Error);
}

TEST_CASE("a second schedule of an optimizer starts from the rates before the first, as in Python") {
  TwoGroups groups;
  const auto initial = groups.rates();
  auto linear = get_scheduler("linear", groups.adamw, {.num_warmup_steps = 2, .num_training_steps = 10});
  CHECK(groups.rates() == std::vector<double>{0, 0});
  linear = get_scheduler("constant", groups.adamw);
  CHECK(groups.rates() == initial);
  for (auto& group : groups.adamw.param_groups()) group.options().set_lr(1);
  auto third = get_scheduler("constant", groups.adamw);
  CHECK(groups.rates() == initial);
}

TEST_CASE("an optimizer without a schedule that lives starts from its own rates") {
  TwoGroups groups;
  get_scheduler("linear", groups.adamw, {.num_warmup_steps = 0, .num_training_steps = 10});
  for (auto& group : groups.adamw.param_groups()) group.options().set_lr(1);
  auto schedule = get_scheduler("constant", groups.adamw);
  CHECK(groups.rates() == std::vector<double>{1, 1});
}

TEST_CASE("the state of another schedule or another optimizer is refused") {
  TwoGroups groups;
  auto constant = get_scheduler("constant", groups.adamw);
  auto plateau = get_scheduler("reduce_lr_on_plateau", groups.adamw);
  CHECK_THROWS_WITH_AS(constant.load_state_dict(plateau.state_dict()), doctest::Contains("has no 'base_lrs'"), Error);
  auto state = constant.state_dict();
  auto change = [&](const char* key, ScheduleState value) {
    for (auto& entry : state.entries()) {
      if (entry.first.text() == key) entry.second = value;
    }
  };
  change("base_lrs", schedules::list_of({1.0}));
  CHECK_THROWS_WITH_AS(constant.load_state_dict(state),
                       doctest::Contains("'base_lrs' has 1 numbers; this optimizer has 2 groups"), Error);
  change("_last_lr", "fast");
  CHECK_THROWS_WITH_AS(constant.load_state_dict(state),
                       doctest::Contains("'_last_lr': a list or tuple is expected where the str is"), Error);
}
