// The schedulers of accelerate::lr_scheduler against those of Python's torch.optim.lr_scheduler, to the bit.

#include "accelerate/train/lr_schedulers.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/train/one_cycle_lr.h"
#include "accelerate/train/scheduler.h"
#include "tests/parity/optimizers/reference.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::lr_scheduler;
using nlohmann::json;
using tensors::TorchValue;

namespace {

using SchedulerPtr = std::shared_ptr<lr_scheduler::LRScheduler>;

/// Two groups of parameters with different rates, as in the reference.
struct TwoRates {
  TwoRates() { sgd.add_param_group({{bias}, std::make_unique<torch::optim::SGDOptions>(0.037)}); }

  std::vector<double> rates() {
    std::vector<double> rates;
    for (auto& group : sgd.param_groups()) rates.push_back(group.options().get_lr());
    return rates;
  }

  void set_rates(const std::vector<double>& rates) {
    for (size_t i = 0; i < rates.size(); ++i) sgd.param_groups()[i].options().set_lr(rates[i]);
  }

  torch::Tensor weight = torch::zeros({1}, torch::requires_grad());
  torch::Tensor bias = torch::zeros({1}, torch::requires_grad());
  torch::optim::SGD sgd{{weight}, 0.1};
};

template <class T>
void take_option(const json& options, const char* key, T& to) {
  if (options.contains(key)) to = options.at(key).get<T>();
}

OneCycleLROptions one_cycle_options(const json& given) {
  OneCycleLROptions options{.max_lr = given.at("max_lr")};
  take_option(given, "total_steps", options.total_steps);
  take_option(given, "epochs", options.epochs);
  take_option(given, "steps_per_epoch", options.steps_per_epoch);
  take_option(given, "pct_start", options.pct_start);
  take_option(given, "anneal_strategy", options.anneal_strategy);
  take_option(given, "cycle_momentum", options.cycle_momentum);
  take_option(given, "base_momentum", options.base_momentum);
  take_option(given, "max_momentum", options.max_momentum);
  take_option(given, "div_factor", options.div_factor);
  take_option(given, "final_div_factor", options.final_div_factor);
  take_option(given, "three_phase", options.three_phase);
  return options;
}

SchedulerPtr make_scheduler(const std::string& name, const json& given, torch::optim::Optimizer& optimizer) {
  if (name == "StepLR") {
    StepLROptions options{.step_size = given.at("step_size")};
    take_option(given, "gamma", options.gamma);
    return std::make_shared<StepLR>(optimizer, options);
  }
  if (name == "MultiStepLR") {
    MultiStepLROptions options{.milestones = given.at("milestones")};
    take_option(given, "gamma", options.gamma);
    return std::make_shared<MultiStepLR>(optimizer, options);
  }
  if (name == "ConstantLR") {
    ConstantLROptions options;
    take_option(given, "factor", options.factor);
    take_option(given, "total_iters", options.total_iters);
    return std::make_shared<ConstantLR>(optimizer, options);
  }
  if (name == "LinearLR") {
    LinearLROptions options;
    take_option(given, "start_factor", options.start_factor);
    take_option(given, "end_factor", options.end_factor);
    take_option(given, "total_iters", options.total_iters);
    return std::make_shared<LinearLR>(optimizer, options);
  }
  if (name == "ExponentialLR") {
    return std::make_shared<ExponentialLR>(optimizer, ExponentialLROptions{.gamma = given.at("gamma")});
  }
  if (name == "PolynomialLR") {
    PolynomialLROptions options;
    take_option(given, "total_iters", options.total_iters);
    take_option(given, "power", options.power);
    return std::make_shared<PolynomialLR>(optimizer, options);
  }
  if (name == "CosineAnnealingLR") {
    CosineAnnealingLROptions options{.T_max = given.at("T_max")};
    take_option(given, "eta_min", options.eta_min);
    return std::make_shared<CosineAnnealingLR>(optimizer, options);
  }
  if (name == "OneCycleLR") return std::make_shared<OneCycleLR>(optimizer, one_cycle_options(given));
  REQUIRE(name == "CosineAnnealingWarmRestarts");
  CosineAnnealingWarmRestartsOptions options{.T_0 = given.at("T_0")};
  take_option(given, "T_mult", options.T_mult);
  take_option(given, "eta_min", options.eta_min);
  return std::make_shared<CosineAnnealingWarmRestarts>(optimizer, options);
}

/// All schedulers of a case of the reference.
std::vector<SchedulerPtr> make_all(const json& expected, torch::optim::Optimizer& optimizer) {
  if (expected.contains("name")) return {make_scheduler(expected.at("name"), expected.at("options"), optimizer)};
  std::vector<SchedulerPtr> parts;
  for (const auto& part : expected.at("parts")) parts.push_back(make_scheduler(part[0], part[1], optimizer));
  if (!expected.contains("milestones")) return parts;
  return {std::make_shared<SequentialLR>(optimizer, parts, expected.at("milestones").get<std::vector<int64_t>>())};
}

/// As make_reference.py writes values.
json as_recorded(const TorchValue& value) {
  using formats::ValueKind;
  auto list = json::array();
  switch (value.kind()) {
    case ValueKind::Bool:
      return value.boolean();
    case ValueKind::Integer:
      return value.integer();
    case ValueKind::Float:
      return value.number();
    case ValueKind::Text:
      return value.text();
    case ValueKind::List:
      for (const auto& part : value.items()) list.push_back(as_recorded(part));
      return list;
    default:
      for (const auto& [key, part] : value.entries()) {
        list.push_back({key.kind() == ValueKind::Text ? json(key.text()) : json(key.integer()), as_recorded(part)});
      }
      return {{"dict", list}};
  }
}

/// The other way: a state as Python's files hold it.
TorchValue from_recorded(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    auto list = TorchValue::list();
    for (const auto& part : value) list.items().push_back(from_recorded(part));
    return list;
  }
  TorchValue::Entries entries;
  for (const auto& entry : value.at("dict")) {
    entries.emplace_back(entry[0].is_string() ? TorchValue(entry[0].get<std::string>()) : entry[0].get<int64_t>(),
                         from_recorded(entry[1]));
  }
  return TorchValue::dict(std::move(entries));
}

/// Without what Python remembers and ours need not: `_last_lr` where another scheduler has set the rates since, and
/// `_step_count` of CosineAnnealingWarmRestarts, which Python never counts up.
json without_bookkeeping(json state, bool is_alone) {
  auto& attributes = state.at("dict");
  const bool has_restarts =
      std::any_of(attributes.begin(), attributes.end(), [](const json& attribute) { return attribute[0] == "T_cur"; });
  for (auto& attribute : attributes) {
    if (attribute[0] == "_last_lr" && !is_alone) attribute[1] = nullptr;
    if (attribute[0] == "_step_count" && has_restarts) attribute[1] = nullptr;
    if (attribute[0] != "_schedulers") continue;
    for (auto& part : attribute[1]) part = without_bookkeeping(part, /*is_alone=*/false);
  }
  return state;
}

template <class Check>
void for_each_case(Check&& check) {
  for (const char* section : {"single", "sequences", "chains"}) {
    for (const auto& expected : recorded_section("torch_lr_schedulers", section)) {
      CAPTURE(section);
      CAPTURE((expected.contains("name") ? expected.at("name") : expected.at("parts")).dump());
      CAPTURE(expected.value("options", json()).dump());
      check(expected);
    }
  }
}

}  // namespace

TEST_CASE("the schedulers of lr_scheduler have the rates of Python's, alone, in sequence and chained") {
  int compared = 0;
  for_each_case([&](const json& expected) {
    TwoRates groups;
    const auto schedulers = make_all(expected, groups.sgd);
    const auto rates = expected.at("rates").get<std::vector<std::vector<double>>>();
    CHECK(groups.rates() == rates[0]);
    for (size_t step = 1; step < rates.size(); ++step) {
      CAPTURE(step);
      for (const auto& scheduler : schedulers) scheduler->step();
      CHECK(groups.rates() == rates[step]);
      CHECK(schedulers[0]->get_last_lr() == rates[step]);
      CHECK(schedulers[0]->last_epoch() == static_cast<int64_t>(step));
    }
    ++compared;
  });
  CHECK(compared == 27);
}

TEST_CASE("the state of each is Python's, and each goes on from Python's") {
  for_each_case([&](const json& expected) {
    TwoRates groups, resumed;
    const auto schedulers = make_all(expected, groups.sgd), others = make_all(expected, resumed.sgd);
    const auto rates = expected.at("rates").get<std::vector<std::vector<double>>>();
    for (int step = 0; step < 10; ++step) {
      for (const auto& scheduler : schedulers) scheduler->step();
    }
    resumed.set_rates(rates[10]);  // part of the optimizer's state
    for (size_t i = 0; i < schedulers.size(); ++i) {
      const auto& python = expected.at("states")[0][i];
      const bool is_alone = schedulers.size() == 1;
      CHECK(without_bookkeeping(as_recorded(schedulers[i]->state_dict()), is_alone).dump() ==
            without_bookkeeping(python, is_alone).dump());
      Scheduler handle(others[i], std::vector<Optimizer>{}, std::make_shared<GradientState>());
      handle.load_state_dict(from_recorded(python));
    }
    for (size_t step = 11; step < rates.size(); ++step) {
      for (const auto& scheduler : others) scheduler->step();
      CHECK(resumed.rates() == rates[step]);
    }
  });
}

TEST_CASE("a schedule goes on with the options of its state, and refuses a state that is not its own") {
  TwoRates groups;
  StepLR every_second(groups.sgd, {.step_size = 2, .gamma = 0.5});
  StepLR other(groups.sgd, {.step_size = 100});
  other.load_state_dict(every_second.state_dict());
  CHECK(as_recorded(other.state_dict()) == as_recorded(every_second.state_dict()));

  ExponentialLR exponential(groups.sgd, {.gamma = 0.9});
  const auto before = as_recorded(other.state_dict());
  CHECK_THROWS_WITH_AS(other.load_state_dict(exponential.state_dict()), doctest::Contains("'step_size'"), Error);
  auto broken = every_second.state_dict();
  broken.entries()[0].second = int64_t{0};
  CHECK_THROWS_WITH_AS(other.load_state_dict(broken), doctest::Contains("'step_size' is 0; it must be at least 1"),
                       Error);
  CHECK(as_recorded(other.state_dict()) == before);
}

TEST_CASE("OneCycleLR moves the momentum of each optimizer as Python's does") {
  using namespace torch::optim;
  const auto cases = recorded_section("torch_lr_schedulers", "momentum");
  CHECK(cases.size() == 12);
  for (const auto& expected : cases) {
    CAPTURE(expected.at("optimizer").get<std::string>());
    CAPTURE(expected.at("options").dump());
    auto weight = torch::zeros({1}, torch::requires_grad());
    auto compare = [&](auto&& optimizer, auto momentum) {
      auto options = one_cycle_options(expected.at("options"));
      options.max_lr.resize(1);
      OneCycleLR schedule(optimizer, options);
      for (double value : expected.at("values")) {
        CHECK(momentum(optimizer.param_groups()[0].options()) == value);
        schedule.step();
      }
    };
    const auto name = expected.at("optimizer").get<std::string>();
    auto plain = []<class O>(O*) {
      return [](const auto& options) { return static_cast<const O&>(options).momentum(); };
    };
    auto first_beta = []<class O>(O*) {
      return [](const auto& options) { return std::get<0>(static_cast<const O&>(options).betas()); };
    };
    if (name == "SGD") compare(SGD({weight}, 0.1), plain(static_cast<SGDOptions*>(nullptr)));
    if (name == "RMSprop") compare(RMSprop({weight}), plain(static_cast<RMSpropOptions*>(nullptr)));
    if (name == "Adam") compare(Adam({weight}), first_beta(static_cast<AdamOptions*>(nullptr)));
    if (name == "AdamW") compare(AdamW({weight}), first_beta(static_cast<AdamWOptions*>(nullptr)));
  }
}

TEST_CASE("OneCycleLR refuses what makes no cycle, and ends after its last step") {
  TwoRates groups;
  auto& sgd = groups.sgd;
  CHECK_THROWS_WITH_AS(OneCycleLR(sgd, {.max_lr = {0.1}}), doctest::Contains("total_steps is 0"), Error);
  CHECK_THROWS_WITH_AS(OneCycleLR(sgd, {.total_steps = 9}), doctest::Contains("max_lr has 0 values"), Error);
  CHECK_THROWS_WITH_AS(OneCycleLR(sgd, {.max_lr = {0.1}, .total_steps = 9, .pct_start = 1.5}),
                       doctest::Contains("pct_start is 1.5"), Error);
  CHECK_THROWS_WITH_AS(OneCycleLR(sgd, {.max_lr = {0.1}, .total_steps = 9, .anneal_strategy = "sine"}),
                       doctest::Contains("anneal_strategy is 'sine'"), Error);
  CHECK_THROWS_WITH_AS(OneCycleLR(sgd, {.max_lr = {0.1}, .total_steps = 10, .pct_start = 0.1}),
                       doctest::Contains("a phase has no steps"), Error);
  torch::optim::Adagrad adagrad({groups.weight});
  CHECK_THROWS_WITH_AS(OneCycleLR(adagrad, {.max_lr = {0.1}, .total_steps = 9}), doctest::Contains("has no momentum"),
                       Error);
  CHECK(adagrad.param_groups()[0].options().get_lr() == 0.01);
  OneCycleLR schedule(sgd, {.max_lr = {0.1}, .total_steps = 9});
  for (int step = 0; step < 9; ++step) schedule.step();
  CHECK_THROWS_WITH_AS(schedule.step(), doctest::Contains("step 10 of a schedule of 9"), Error);
}

TEST_CASE("options that make no schedule are refused with their names") {
  TwoRates groups, others;
  auto& sgd = groups.sgd;
  CHECK_THROWS_WITH_AS(StepLR(sgd, {}), doctest::Contains("'step_size' is 0"), Error);
  CHECK_THROWS_WITH_AS(CosineAnnealingLR(sgd, {}), doctest::Contains("'T_max' is 0"), Error);
  CHECK_THROWS_WITH_AS(ExponentialLR(sgd, {}), doctest::Contains("'gamma' is missing"), Error);
  CHECK_THROWS_WITH_AS(LinearLR(sgd, {.start_factor = 0}), doctest::Contains("'start_factor' is 0"), Error);
  CHECK_THROWS_WITH_AS(LinearLR(sgd, {.start_factor = 1.1}), doctest::Contains("between 0 and 1"), Error);
  CHECK_THROWS_WITH_AS(ConstantLR(sgd, {.factor = 1.5}), doctest::Contains("'factor' is 1.5"), Error);
  auto decay = std::make_shared<ExponentialLR>(sgd, ExponentialLROptions{.gamma = 0.9});
  auto foreign = std::make_shared<ExponentialLR>(others.sgd, ExponentialLROptions{.gamma = 0.9});
  CHECK_THROWS_WITH_AS(SequentialLR(sgd, {decay}, {3}), doctest::Contains("1 schedulers and 1 milestones"), Error);
  CHECK_THROWS_WITH_AS(SequentialLR(sgd, {decay, foreign}, {3}), doctest::Contains("belongs to another optimizer"),
                       Error);
  // Python's comes one step early when it is the first, and raises an error when it is not.
  auto inner = std::make_shared<SequentialLR>(sgd, std::vector<SchedulerPtr>{decay}, std::vector<int64_t>{});
  CHECK_THROWS_WITH_AS(SequentialLR(sgd, {inner, decay}, {3}), doctest::Contains("is a SequentialLR itself"), Error);
}

TEST_CASE("a ConstantLR of 0 cannot give the rates back, but another scheduler can follow it") {
  TwoRates groups;
  ConstantLR frozen(groups.sgd, {.factor = 0, .total_iters = 2});
  frozen.step();
  CHECK(groups.rates() == std::vector<double>{0, 0});
  CHECK_THROWS_WITH_AS(frozen.step(), doctest::Contains("'factor' is 0"), Error);

  TwoRates others;
  auto first = std::make_shared<ConstantLR>(others.sgd, ConstantLROptions{.factor = 0, .total_iters = 2});
  auto then = std::make_shared<ExponentialLR>(others.sgd, ExponentialLROptions{.gamma = 0.5});
  SequentialLR both(others.sgd, {first, then}, {2});
  for (int step = 0; step < 2; ++step) both.step();
  CHECK(others.rates() == std::vector<double>{0.1, 0.037});
}

TEST_CASE("a prepared torch::optim::StepLR decays in the steps in which Python's does") {
  for (const auto& expected : recorded_section("torch_lr_schedulers", "single")) {
    if (expected.at("name") != "StepLR") continue;
    CAPTURE(expected.at("options").dump());
    TwoRates groups;
    torch::optim::StepLR decay(groups.sgd, expected.at("options").at("step_size"),
                               expected.at("options").value("gamma", 0.1));
    Scheduler scheduler(decay, std::vector<Optimizer>{}, std::make_shared<GradientState>());
    Scheduler again(decay, std::vector<Optimizer>{}, std::make_shared<GradientState>());  // starts it no second time
    for (const auto& rates : expected.at("rates")) {
      CHECK(groups.rates() == rates.get<std::vector<double>>());
      CHECK(scheduler.get_last_lr() == groups.rates());
      again.step();
    }
    CHECK(scheduler.state_dict().at("last_epoch").integer() == 31);
  }
}
