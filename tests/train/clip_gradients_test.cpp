#include "accelerate/train/clip_gradients.h"

#include <doctest/doctest.h>

#include "tests/parity/optimizers/reference.h"
#include "tests/support/torch.h"

using namespace accelerate::train;

namespace {

std::vector<torch::Tensor> parameters_with_gradients() {
  auto parameters = reference_parameters();
  for (auto& parameter : parameters) parameter.mutable_grad() = torch::randn_like(parameter);
  return parameters;
}

}  // namespace

TEST_CASE("clip_grad_norm_ returns Python's norm and leaves Python's gradients") {
  for (const auto& expected : recorded_section("optimizers", "clip_grad_norm")) {
    auto parameters = parameters_with_gradients();
    const double norm_type = std::stod(expected.at("norm_type").get<std::string>());
    CAPTURE(norm_type);
    const auto norm = clip_grad_norm_(parameters, expected.at("max_norm"), norm_type);
    CHECK(bits(norm) == expected.at("norm").get<std::vector<int32_t>>());
    for (size_t i = 0; i < parameters.size(); ++i) {
      CHECK(bits(parameters[i].grad()) == expected.at("gradients")[i].get<std::vector<int32_t>>());
    }
  }
}

TEST_CASE("clip_grad_value_ leaves Python's gradients") {
  const auto expected = recorded_section("optimizers", "clip_grad_value");
  auto parameters = parameters_with_gradients();
  clip_grad_value_(parameters, expected.at("clip_value"));
  for (size_t i = 0; i < parameters.size(); ++i) {
    CHECK(bits(parameters[i].grad()) == expected.at("gradients")[i].get<std::vector<int32_t>>());
  }
}

TEST_CASE("gradients 3 and 4 of different types have norm 5") {
  auto single = torch::zeros({1}, torch::requires_grad());
  auto precise = torch::zeros({1}, torch::dtype(torch::kDouble).requires_grad(true));
  auto unused = torch::zeros({1}, torch::requires_grad());
  single.mutable_grad() = torch::full({1}, 3.0);
  precise.mutable_grad() = torch::full({1}, 4.0, torch::kDouble);
  CHECK(clip_grad_norm_({single, precise, unused}, 1).item<double>() == doctest::Approx(5));
  CHECK(single.grad().item<float>() == doctest::Approx(0.6));
  CHECK(precise.grad().item<double>() == doctest::Approx(0.8));
  CHECK_FALSE(unused.grad().defined());
}

TEST_CASE("without gradients the norm is zero") {
  CHECK(clip_grad_norm_({}, 1).item<float>() == 0);
  clip_grad_value_({}, 1);
}
