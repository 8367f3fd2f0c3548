#include "accelerate/precision/grad_scaler.h"

#include <limits>
#include <map>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/precision/autocast.h"
#include "tests/parity/optimizers/reference.h"
#include "tests/support/torch.h"

using namespace accelerate;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A parameter of value 1, its optimizer (learning rate 1) and one way to give it a gradient.
struct Example {
  torch::Tensor weight = torch::ones({1}, torch::requires_grad());
  torch::optim::SGD sgd{{weight}, 1.0};

  void backward(GradScaler& scaler, double gradient) { scaler.scale((weight * gradient).sum()).backward(); }

  bool step(GradScaler& scaler) {
    return scaler.step(sgd, [this] { sgd.step(); });
  }
};

}  // namespace

TEST_CASE("scales, growth and skipped steps are Python's") {
  const auto reference = recorded_section("optimizers", "grad_scaler");
  const std::map<size_t, double> overflows{{2, kInfinity}, {3, std::nan("")}, {9, kInfinity}, {15, -kInfinity}};
  auto parameters = reference_parameters();
  torch::optim::SGD optimizer(parameters, 0.1);
  GradScaler scaler({.init_scale = 48, .growth_factor = 3, .backoff_factor = 0.25, .growth_interval = 3});
  const auto& trace = reference.at("trace");
  for (size_t step = 0; step < trace.size(); ++step) {
    CAPTURE(step);
    optimizer.zero_grad();
    auto loss = (parameters[0] * torch::randn({7, 5})).sum();
    loss = loss + (parameters[1] * torch::randn({13})).sum();
    scaler.scale(loss * (overflows.contains(step) ? overflows.at(step) : 1.0)).backward();
    const bool stepped = scaler.step(optimizer, [&] { optimizer.step(); });
    scaler.update();
    CHECK(stepped == !trace[step].at("skipped").get<bool>());
    CHECK(scaler.get_scale() == trace[step].at("scale").get<double>());
    CHECK(scaler.state().growth_tracker == trace[step].at("growth_tracker").get<int64_t>());
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    CHECK(bits(parameters[i]) == reference.at("parameters")[i].get<std::vector<int32_t>>());
  }
}

TEST_CASE("the scale divides out again") {
  Example example;
  GradScaler scaler;
  CHECK(scaler.get_scale() == 65536);
  example.backward(scaler, 0.25);
  CHECK(example.weight.grad().item<float>() == 0.25f * 65536);
  scaler.unscale_(example.sgd);
  CHECK(example.weight.grad().item<float>() == 0.25f);
  CHECK(example.step(scaler));
  CHECK(example.weight.item<float>() == 0.75f);
}

TEST_CASE("a gradient of 1e-7, which fp16 rounds to nothing, survives by scaling") {
  const auto gradient_through_fp16 = [](GradScaler& scaler) {
    Example example;
    const auto loss = scaler.scale((example.weight.to(torch::kHalf) * 0.5).sum().to(torch::kFloat) * 1e-8);
    loss.backward();
    scaler.unscale_(example.sgd);
    return example.weight.grad().item<float>();
  };
  GradScaler off({.enabled = false});
  CHECK(gradient_through_fp16(off) == 0);
  GradScaler on;
  CHECK(gradient_through_fp16(on) == doctest::Approx(5e-9).epsilon(1e-2));
}

TEST_CASE("calls out of order are errors") {
  Example example;
  GradScaler scaler;
  CHECK_THROWS_WITH_AS(scaler.unscale_(example.sgd), doctest::Contains("before any loss was scaled"), Error);
  CHECK_THROWS_WITH_AS(example.step(scaler), doctest::Contains("before any loss was scaled"), Error);
  CHECK_THROWS_WITH_AS(scaler.update(), doctest::Contains("without a step"), Error);
  example.backward(scaler, 1);
  scaler.unscale_(example.sgd);
  CHECK_THROWS_WITH_AS(scaler.unscale_(example.sgd), doctest::Contains("twice in one step"), Error);
  CHECK(example.step(scaler));
  CHECK_THROWS_WITH_AS(example.step(scaler), doctest::Contains("twice for one optimizer"), Error);
  CHECK_THROWS_WITH_AS(scaler.unscale_(example.sgd), doctest::Contains("after the step"), Error);
  scaler.update();
  example.backward(scaler, 1);
  scaler.unscale_(example.sgd);
}

TEST_CASE("fp16 parameters are refused with the remedy") {
  auto weight = torch::ones({3}, torch::dtype(torch::kHalf).requires_grad(true));
  torch::optim::SGD sgd({weight}, 1.0);
  GradScaler scaler;
  scaler.scale(weight.sum().to(torch::kFloat)).backward();
  CHECK_THROWS_WITH_AS(scaler.unscale_(sgd), doctest::Contains("Keep the parameters in float32"), Error);
}

TEST_CASE("a disabled scaler leaves loss, gradients and steps alone") {
  Example example;
  GradScaler scaler({.growth_factor = 0.5, .enabled = false});
  const auto loss = example.weight.sum();
  CHECK(scaler.scale(loss).is_same(loss));
  CHECK(scaler.get_scale() == 1);
  example.backward(scaler, kInfinity);
  scaler.unscale_(example.sgd);
  CHECK(example.step(scaler));
  scaler.update();
  CHECK(std::isinf(example.weight.item<float>()));
}

TEST_CASE("factors that could not work are refused") {
  CHECK_THROWS_WITH_AS(GradScaler({.growth_factor = 1}), doctest::Contains("growth_factor is 1"), Error);
  CHECK_THROWS_WITH_AS(GradScaler({.backoff_factor = 1}), doctest::Contains("backoff_factor is 1"), Error);
}

TEST_CASE("state moves to another scaler, before its first loss and after") {
  Example example;
  GradScaler scaler({.init_scale = 1024, .growth_interval = 5});
  for (int step = 0; step < 3; ++step) {
    example.backward(scaler, 1);
    example.step(scaler);
    scaler.update();
  }
  const auto state = scaler.state();
  CHECK(state.scale == 1024);
  CHECK(state.growth_tracker == 3);
  for (bool used : {false, true}) {
    GradScaler other;
    if (used) example.backward(other, 1);
    other.load_state(state);
    CHECK(other.state().growth_tracker == 3);
    CHECK(other.state().growth_interval == 5);
    for (int step = 0; step < 2; ++step) {
      CHECK(other.get_scale() == 1024);
      example.sgd.zero_grad();
      example.backward(other, 1);
      example.step(other);
      other.update();
    }
    CHECK(other.get_scale() == 2048);
  }
}

TEST_CASE("optimizers that step and update in turn each divide by the scale of their own loss") {
  Example first, second;
  GradScaler scaler({.init_scale = 4});
  SUBCASE("unscaled on demand") {
    first.backward(scaler, kInfinity);
    second.backward(scaler, 0.5);
  }
  SUBCASE("unscaled beforehand") {
    first.backward(scaler, kInfinity);
    second.backward(scaler, 0.5);
    scaler.unscale_(first.sgd);
    scaler.unscale_(second.sgd);
  }
  CHECK_FALSE(first.step(scaler));
  scaler.update();
  CHECK(scaler.get_scale() == 2);
  CHECK(second.step(scaler));
  scaler.update();
  CHECK(second.weight.item<float>() == 0.5f);
  CHECK(first.weight.item<float>() == 1);
}

TEST_CASE("sparse gradients and gradients of two types are unscaled together") {
  torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(4, 2).sparse(true));
  auto weight = torch::ones({1}, torch::dtype(torch::kDouble).requires_grad(true));
  torch::optim::SGD sgd({embedding->weight, weight}, 1.0);
  GradScaler scaler({.init_scale = 8});
  scaler.scale(embedding(torch::tensor({1})).sum() + weight.sum().to(torch::kFloat)).backward();
  scaler.unscale_(sgd);
  CHECK(embedding->weight.grad().to_dense().sum().item<float>() == 2);
  CHECK(weight.grad().item<double>() == 1);
}

TEST_CASE("fp16 on the CPU finds its scale from far too high a start") {
  torch::manual_seed(0);
  torch::nn::Linear layer(8, 8);
  torch::optim::SGD sgd(layer->parameters(), 1e-3);
  GradScaler scaler({.init_scale = std::pow(2.0, 40)});
  int skipped = 0;
  for (int step = 0; step < 40; ++step) {
    torch::Tensor loss;
    {
      Autocast autocast(torch::kCPU, MixedPrecision::Fp16);
      loss = layer(torch::randn({4, 8})).to(torch::kFloat).pow(2).mean();
    }
    sgd.zero_grad();
    scaler.scale(loss).backward();
    skipped += !scaler.step(sgd, [&] { sgd.step(); });
    scaler.update();
  }
  CHECK(skipped > 10);
  CHECK(skipped < 40);
  CHECK(scaler.get_scale() == std::pow(2.0, 40 - skipped));
  CHECK(layer->weight.isfinite().all().item<bool>());
}
