#include "accelerate/train/scheduler.h"

#include <cmath>

#include <doctest/doctest.h>

#include "accelerate/train/lr_scheduler.h"
#include "tests/parity/optimizers/reference.h"
#include "tests/support/torch.h"

using namespace accelerate;

namespace {

// One weight, trained by SGD under a scaler, so that a step can be made to be skipped.
struct Example {
  explicit Example(double lr = 1) : sgd({weight}, lr), optimizer(sgd, gradient_state, scaler) {}

  void step(bool overflow = false) {
    optimizer.zero_grad();
    scaler->scale(weight.sum() * (overflow ? std::nan("") : 1.0)).backward();
    optimizer.step();
  }

  double rate() const { return optimizer.learning_rate(); }

  torch::Tensor weight = torch::zeros({1}, torch::requires_grad());
  std::shared_ptr<GradientState> gradient_state = std::make_shared<GradientState>();
  std::shared_ptr<GradScaler> scaler = std::make_shared<GradScaler>();
  torch::optim::SGD sgd;
  Optimizer optimizer;
};

// What the handle sees of Python's OneCycleLR.
struct OneCycle {
  int64_t total_steps() const { return total; }
  int64_t step_count() const { return count; }
  void step() { ++count; }

  int64_t total;
  int64_t count = 1;
};

double tenths(int64_t step) { return 1 - step / 10.0; }

double from_hex(const nlohmann::json& text) { return std::strtod(text.get<std::string>().c_str(), nullptr); }

}  // namespace

TEST_CASE("learning rates follow Python's for any number of processes, split batches, loose schedules and skips") {
  for (const auto& expected : recorded_section("schedulers", "lambda")) {
    auto settings = expected;
    settings.erase("rates");
    CAPTURE(settings.dump());
    Example example;
    LambdaLR schedule(example.sgd, tenths);
    Scheduler scheduler(schedule, {example.optimizer}, example.gradient_state,
                        {.step_with_optimizer = expected.at("step_with_optimizer"),
                         .split_batches = expected.at("split_batches"),
                         .num_processes = expected.at("num_processes")});
    const auto& rates = expected.at("rates");
    CHECK(example.rate() == from_hex(rates[0]));
    for (size_t i = 0; i < expected.at("skipped").size(); ++i) {
      example.step(/*overflow=*/expected.at("skipped")[i] == 1);
      scheduler.step();
      CHECK(example.rate() == from_hex(rates[i + 1]));
      CHECK(scheduler.get_last_lr() == std::vector<double>{example.rate()});
    }
  }
}

TEST_CASE("a schedule with a total number of steps is not stepped beyond it") {
  for (const auto& expected : recorded_section("schedulers", "one_cycle")) {
    Example example;
    OneCycle cycle{.total = expected.at("total_steps")};
    Scheduler scheduler(cycle, {example.optimizer}, example.gradient_state,
                        {.num_processes = expected.at("num_processes")});
    for (const auto& epoch : expected.at("epochs")) {
      example.step();
      scheduler.step();
      CHECK(cycle.count - 1 == epoch.get<int64_t>());
    }
  }
}

TEST_CASE("a linear schedule ends at zero after the same samples, whatever the accumulation and the processes") {
  for (const auto& expected : recorded_section("schedulers", "linear")) {
    Example example(0.1);
    Scheduler scheduler(LambdaLR(example.sgd, [](int64_t step) { return std::max(0.0, (20.0 - step) / 20.0); }),
                        {example.optimizer}, example.gradient_state, {.num_processes = expected.at("num_processes")});
    const int window = expected.at("accumulation_steps");
    const auto& rates = expected.at("rates");
    for (size_t i = 0; i < rates.size(); ++i) {
      example.gradient_state->sync_gradients = (i + 1) % window == 0;
      example.step();
      scheduler.step();
      CHECK(example.rate() == from_hex(rates[i]));
    }
    CHECK(example.rate() == 0);
  }
}

TEST_CASE("a plateau schedule takes its metric, and the others refuse one") {
  for (const auto& expected : recorded_section("schedulers", "plateau")) {
    Example example;
    torch::optim::ReduceLROnPlateauScheduler plateau(
        example.sgd, torch::optim::ReduceLROnPlateauScheduler::SchedulerMode::min, 0.5, 2);
    Scheduler scheduler(plateau, {example.optimizer}, example.gradient_state,
                        {.num_processes = expected.at("num_processes")});
    for (size_t i = 0; i < expected.at("metrics").size(); ++i) {
      scheduler.step(expected.at("metrics")[i].get<double>());
      CHECK(example.rate() == from_hex(expected.at("rates")[i]));
    }
    CHECK_THROWS_WITH_AS(scheduler.step(), doctest::Contains("call step(metric)"), Error);
  }
  Example example;
  Scheduler scheduler(LambdaLR(example.sgd, tenths), {example.optimizer}, example.gradient_state);
  CHECK_THROWS_WITH_AS(scheduler.step(0.5), doctest::Contains("takes no metric; call step()"), Error);
}

TEST_CASE("a plateau schedule goes on from its state as if it had not been stopped") {
  const std::vector<double> metrics = {1, 0.9, 0.95, 0.92, 0.91, 0.91, 0.91, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8};
  struct PlateauRun : Example {
    torch::optim::ReduceLROnPlateauScheduler plateau{
        sgd,  torch::optim::ReduceLROnPlateauScheduler::SchedulerMode::min, 0.5,           1,
        1e-4, torch::optim::ReduceLROnPlateauScheduler::ThresholdMode::rel, /*cooldown=*/2};
    Scheduler scheduler{plateau, {optimizer}, gradient_state};
  };
  PlateauRun whole;
  std::vector<double> rates;
  for (double metric : metrics) {
    whole.scheduler.step(metric);
    rates.push_back(whole.rate());
  }
  CHECK(rates.back() < 0.5);
  for (size_t stop = 0; stop < metrics.size(); ++stop) {
    CAPTURE(stop);
    PlateauRun first, second;
    for (size_t i = 0; i < stop; ++i) first.scheduler.step(metrics[i]);
    second.sgd.param_groups()[0].options().set_lr(first.rate());  // part of the optimizer's state
    second.scheduler.load_state_dict(first.scheduler.state_dict());
    for (size_t i = stop; i < metrics.size(); ++i) {
      second.scheduler.step(metrics[i]);
      CHECK(second.rate() == rates[i]);
    }
  }
  LambdaLR other(whole.sgd, tenths);
  CHECK_THROWS_WITH_AS(whole.scheduler.load_state_dict(other.state_dict()), doctest::Contains("'best'"), Error);
}

TEST_CASE("schedulers are borrowed, owned or shared as they are given") {
  Example example;
  OneCycle borrowed{.total = 9};
  auto unique = std::make_unique<OneCycle>(OneCycle{.total = 9});
  auto shared = std::make_shared<OneCycle>(OneCycle{.total = 9});
  std::weak_ptr<OneCycle> watch = shared;
  {
    Scheduler by_reference(borrowed, {example.optimizer}, example.gradient_state);
    Scheduler by_pointer(unique, {example.optimizer}, example.gradient_state);
    Scheduler by_share(shared, {example.optimizer}, example.gradient_state);
    Scheduler copy = by_reference;
    by_reference.step();
    copy.step();
    by_pointer.step();
    shared.reset();
    by_share.step();
    CHECK(borrowed.count == 3);
    CHECK(unique->count == 2);
    CHECK(watch.lock()->count == 2);
  }
  CHECK(watch.expired());
  std::unique_ptr<torch::optim::LRScheduler> base = std::make_unique<LambdaLR>(example.sgd, tenths);
  Scheduler owner(std::move(base), {example.optimizer}, example.gradient_state);
  owner.step();
  CHECK(owner.get_last_lr() == std::vector<double>{0.9});
}

TEST_CASE("a schedule follows its own optimizer among several, also one that is prepared after it") {
  Example first, second;
  auto optimizers = std::make_shared<std::vector<Optimizer>>(std::vector{first.optimizer});
  torch::optim::StepLR decay(second.sgd, /*step_size=*/1, /*gamma=*/0.5);
  Scheduler scheduler(decay, optimizers, second.gradient_state);
  optimizers->push_back(second.optimizer);
  scheduler.step();
  CHECK(second.rate() == 0.5);
  CHECK(scheduler.get_last_lr() == std::vector<double>{0.5});

  first.step(/*overflow=*/true);
  second.step();
  scheduler.step();
  CHECK(second.rate() == 0.25);
  first.step();
  second.step(/*overflow=*/true);
  scheduler.step();
  CHECK(second.rate() == 0.25);
  CHECK(first.rate() == 1);
}

TEST_CASE("a schedule of one's own may name its optimizer; else any that overflows holds it back") {
  struct Named : OneCycle {
    torch::optim::Optimizer& optimizer() const { return *own; }
    torch::optim::Optimizer* own = nullptr;
  };
  Example first, second;
  OneCycle silent{.total = 9};
  Named named;
  named.total = 9;
  named.own = &first.sgd;
  Scheduler follows_both(silent, {first.optimizer, second.optimizer}, first.gradient_state);
  Scheduler follows_first(named, {first.optimizer, second.optimizer}, first.gradient_state);
  first.step();
  second.step(/*overflow=*/true);
  follows_both.step();
  follows_first.step();
  CHECK(silent.count == 1);
  CHECK(named.count == 2);
  second.step();
  follows_both.step();
  CHECK(silent.count == 2);
}

TEST_CASE("LambdaLR scales the initial rate of every group, from its construction on") {
  auto weight = torch::zeros({1}, torch::requires_grad()), bias = torch::zeros({1}, torch::requires_grad());
  torch::optim::SGD sgd({weight}, 0.5);
  sgd.add_param_group({{bias}, std::make_unique<torch::optim::SGDOptions>(0.25)});
  SUBCASE("one function for all") {
    LambdaLR schedule(sgd, [](int64_t step) { return step + 3.0; });
    CHECK(schedule.get_last_lr() == std::vector<double>{1.5, 0.75});
    schedule.step();
    schedule.step();
    CHECK(schedule.last_epoch() == 2);
    CHECK(schedule.get_last_lr() == std::vector<double>{2.5, 1.25});
  }
  SUBCASE("one for each") {
    LambdaLR schedule(sgd, std::vector<LambdaLR::Factor>{tenths, [](int64_t) { return 2.0; }});
    schedule.step();
    CHECK(schedule.get_last_lr() == std::vector<double>{0.45, 0.5});
    CHECK_THROWS_WITH_AS(LambdaLR(sgd, std::vector<LambdaLR::Factor>{tenths}),
                         doctest::Contains("1 functions for an optimizer with 2 groups"), Error);
  }
}
