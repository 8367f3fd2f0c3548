// Prepared optimizers against Python's, bit by bit: fused against `fused=True`, the loop against the default.

#include <doctest/doctest.h>

#include "accelerate/train/optimizer.h"
#include "tests/parity/optimizers/reference.h"
#include "tests/support/torch.h"

using namespace accelerate;
using nlohmann::json;

namespace {

template <class Options>
Options adam_options(const json& given) {
  Options options;
  if (given.contains("lr")) options.lr(given["lr"]);
  if (given.contains("betas")) options.betas(std::make_tuple(given["betas"][0], given["betas"][1]));
  if (given.contains("eps")) options.eps(given["eps"]);
  if (given.contains("weight_decay")) options.weight_decay(given["weight_decay"]);
  if (given.contains("amsgrad")) options.amsgrad(given["amsgrad"]);
  return options;
}

torch::optim::SGDOptions sgd_options(const json& given) {
  return torch::optim::SGDOptions(given.at("lr"))
      .momentum(given.value("momentum", 0.0))
      .dampening(given.value("dampening", 0.0))
      .weight_decay(given.value("weight_decay", 0.0))
      .nesterov(given.value("nesterov", false));
}

torch::optim::RMSpropOptions rmsprop_options(const json& given) {
  return torch::optim::RMSpropOptions(given.value("lr", 0.01))
      .alpha(given.value("alpha", 0.99))
      .eps(given.value("eps", 1e-8))
      .momentum(given.value("momentum", 0.0))
      .centered(given.value("centered", false))
      .weight_decay(given.value("weight_decay", 0.0));
}

torch::optim::AdagradOptions adagrad_options(const json& given) {
  return torch::optim::AdagradOptions(given.value("lr", 0.01))
      .lr_decay(given.value("lr_decay", 0.0))
      .eps(given.value("eps", 1e-10))
      .weight_decay(given.value("weight_decay", 0.0))
      .initial_accumulator_value(given.value("initial_accumulator_value", 0.0));
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const json& expected, std::vector<torch::Tensor> parameters) {
  const auto& name = expected.at("optimizer");
  const auto& options = expected.at("options");
  if (name == "AdamW") {
    return std::make_unique<torch::optim::AdamW>(parameters, adam_options<torch::optim::AdamWOptions>(options));
  }
  if (name == "Adam") {
    return std::make_unique<torch::optim::Adam>(parameters, adam_options<torch::optim::AdamOptions>(options));
  }
  if (name == "RMSprop") return std::make_unique<torch::optim::RMSprop>(parameters, rmsprop_options(options));
  if (name == "Adagrad") return std::make_unique<torch::optim::Adagrad>(parameters, adagrad_options(options));
  REQUIRE(name == "SGD");
  return std::make_unique<torch::optim::SGD>(parameters, sgd_options(options));
}

// The same twelve steps as in make_reference.py, by any callable that steps and any optimizer that has a learning rate.
template <class Step>
void run_steps(std::vector<torch::Tensor>& parameters, torch::optim::Optimizer& optimizer, Step&& take_step) {
  for (int step = 0; step < 12; ++step) {
    for (size_t index = 0; index < parameters.size(); ++index) {
      const auto gradient = torch::randn_like(parameters[index]) * std::pow(10.0, -(step % 4));
      const bool absent = index == 1 && (step == 4 || step == 5);
      parameters[index].mutable_grad() = absent ? torch::Tensor() : gradient;
    }
    take_step();
    auto& options = optimizer.param_groups()[0].options();
    options.set_lr(options.get_lr() * 0.9);
  }
}

template <class State>
std::map<std::string, torch::Tensor> adam_tensors(const State& state) {
  return {{"exp_avg", state.exp_avg()}, {"exp_avg_sq", state.exp_avg_sq()}, {"max_exp_avg_sq", state.max_exp_avg_sq()}};
}

std::map<std::string, torch::Tensor> state_tensors(const torch::optim::OptimizerParamState& state) {
  if (auto* adamw = dynamic_cast<const torch::optim::AdamWParamState*>(&state)) return adam_tensors(*adamw);
  if (auto* adam = dynamic_cast<const torch::optim::AdamParamState*>(&state)) return adam_tensors(*adam);
  if (auto* adagrad = dynamic_cast<const torch::optim::AdagradParamState*>(&state)) return {{"sum", adagrad->sum()}};
  if (auto* rmsprop = dynamic_cast<const torch::optim::RMSpropParamState*>(&state)) {
    return {{"square_avg", rmsprop->square_avg()},
            {"momentum_buffer", rmsprop->momentum_buffer()},
            {"grad_avg", rmsprop->grad_avg()}};
  }
  return {{"momentum_buffer", dynamic_cast<const torch::optim::SGDParamState&>(state).momentum_buffer()}};
}

}  // namespace

TEST_CASE("prepared optimizers equal Python's to the bit, fused and not") {
  int compared = 0;
  for (const auto& expected : recorded_section("optimizers", "optimizers")) {
    CAPTURE(expected.at("optimizer").dump());
    CAPTURE(expected.at("options").dump());
    CAPTURE(expected.at("fused").dump());
    auto parameters = reference_parameters();
    Optimizer optimizer(make_optimizer(expected, parameters), std::make_shared<GradientState>(), nullptr,
                        {.fused = expected.at("fused")});
    run_steps(parameters, *optimizer, [&] { optimizer.step(); });
    for (size_t i = 0; i < parameters.size(); ++i) {
      CHECK(bits(parameters[i]) == expected.at("parameters")[i].get<std::vector<int32_t>>());
      for (const auto& [name, values] : expected.at("state").items()) {
        if (values[i].empty()) continue;
        const auto& state = *optimizer.state().at(parameters[i].unsafeGetTensorImpl());
        CHECK(bits(state_tensors(state).at(name)) == values[i].get<std::vector<int32_t>>());
      }
    }
    ++compared;
  }
  CHECK(compared == 31);
}

TEST_CASE("prepared optimizers agree with libtorch's own up to rounding") {
  for (const auto& expected : recorded_section("optimizers", "optimizers")) {
    CAPTURE(expected.at("optimizer").dump());
    CAPTURE(expected.at("options").dump());
    auto parameters = reference_parameters();
    auto plain = make_optimizer(expected, parameters);
    run_steps(parameters, *plain, [&] { plain->step(); });
    for (size_t i = 0; i < parameters.size(); ++i) {
      auto values = expected.at("parameters")[i].get<std::vector<int32_t>>();
      const auto python = torch::from_blob(values.data(), parameters[i].sizes(), torch::kInt).view(torch::kFloat);
      CHECK(torch::allclose(parameters[i], python, 1e-4, 1e-5));
    }
  }
}
