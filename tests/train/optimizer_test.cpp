#include "accelerate/train/optimizer.h"

#include <limits>
#include <sstream>

#include <doctest/doctest.h>
#include <torch/serialize.h>

#include "accelerate/base/error.h"
#include "accelerate/train/optimizer_state.h"
#include "tests/support/torch.h"

using namespace accelerate;

namespace {

torch::Tensor weight_with_gradient(double gradient) {
  auto weight = torch::ones({1}, torch::requires_grad());
  weight.mutable_grad() = torch::full({1}, gradient);
  return weight;
}

torch::Tensor random_parameter(torch::IntArrayRef shape) { return torch::randn(shape).set_requires_grad(true); }

torch::Tensor weights_after_steps(const torch::Tensor& start, const torch::Tensor& gradient, bool fused) {
  auto weight = start.detach().clone().set_requires_grad(true);
  torch::optim::AdamW adamw({weight}, 0.1);
  Optimizer optimizer(adamw, std::make_shared<GradientState>(), nullptr, {.fused = fused});
  for (int step = 0; step < 3; ++step) {
    weight.mutable_grad() = gradient;
    optimizer.step();
  }
  return weight.detach();
}

}  // namespace

TEST_CASE("steps and zero_grad happen at the end of an accumulation window only") {
  auto weight = weight_with_gradient(1);
  torch::optim::SGD sgd({weight}, 0.5);
  auto gradient_state = std::make_shared<GradientState>();
  Optimizer optimizer(sgd, gradient_state);
  gradient_state->sync_gradients = false;
  optimizer.step();
  CHECK_FALSE(optimizer.step([&] { return weight.sum(); }).defined());
  optimizer.zero_grad();
  CHECK(weight.item<float>() == 1);
  CHECK(weight.grad().defined());
  gradient_state->sync_gradients = true;
  optimizer.step();
  optimizer.zero_grad();
  CHECK(weight.item<float>() == 0.5);
  CHECK_FALSE(weight.grad().defined());
}

TEST_CASE("zero_grad copes with gradients that are views of a bucket") {
  const auto bucket = torch::ones({4});
  auto weight = torch::zeros({2}, torch::requires_grad());
  weight.mutable_grad() = bucket.narrow(0, 1, 2);
  torch::optim::SGD sgd({weight}, 0.5);
  Optimizer optimizer(sgd);
  optimizer.zero_grad(/*set_to_none=*/false);
  CHECK(bucket.sum().item<float>() == 2);  // zeroed in place
  CHECK(weight.grad().defined());
  optimizer.zero_grad();
  CHECK_FALSE(weight.grad().defined());
}

TEST_CASE("copies of the handle share the optimizer and what happened to it") {
  auto weight = weight_with_gradient(std::numeric_limits<double>::quiet_NaN());
  auto scaler = std::make_shared<GradScaler>();
  scaler->scale(torch::ones({}));
  Optimizer optimizer(std::make_unique<torch::optim::SGD>(std::vector<torch::Tensor>{weight}, 0.5),
                      std::make_shared<GradientState>(), scaler);
  Optimizer copy = optimizer;
  CHECK(&*copy == &*optimizer);
  copy.step();
  CHECK(optimizer.step_was_skipped());
  CHECK(optimizer.learning_rate() == 0.5);
  copy->param_groups()[0].options().set_lr(0.25);
  CHECK(optimizer.learning_rate() == 0.25);
}

TEST_CASE("with a scaler, steps with gradients that are not finite are skipped, and reported") {
  torch::nn::Linear layer(2, 1);
  torch::optim::AdamW adamw(layer->parameters());
  auto scaler = std::make_shared<GradScaler>();
  Optimizer optimizer(adamw, std::make_shared<GradientState>(), scaler);
  const auto step_with = [&](double factor) {
    optimizer.zero_grad();
    scaler->scale(layer(torch::ones({1, 2})).sum() * factor).backward();
    optimizer.step();
    return optimizer.step_was_skipped();
  };
  CHECK_FALSE(optimizer.step_was_skipped());
  CHECK_FALSE(step_with(1));
  const auto before = layer->weight.detach().clone();
  CHECK(step_with(std::nan("")));
  CHECK(step_with(std::numeric_limits<double>::infinity()));
  CHECK(torch::equal(layer->weight, before));
  CHECK(scaler->get_scale() == 65536 / 4);
  CHECK_FALSE(step_with(1));
  CHECK_FALSE(torch::equal(layer->weight, before));
}

TEST_CASE("a disabled scaler steps as none") {
  auto weight = weight_with_gradient(1);
  torch::optim::SGD sgd({weight}, 0.5);
  Optimizer optimizer(sgd, std::make_shared<GradientState>(),
                      std::make_shared<GradScaler>(GradScalerKwargs{.enabled = false}));
  optimizer.step();
  CHECK(weight.item<float>() == 0.5);
  CHECK_FALSE(optimizer.step_was_skipped());
}

TEST_CASE("a closure is called for the loss, several times by LBFGS, and refused under a scaler") {
  auto weight = torch::full({2}, 5.0, torch::requires_grad());
  int calls = 0;
  const auto closure = [&] {
    ++calls;
    weight.mutable_grad().reset();
    const auto loss = (weight - 1).pow(2).sum();
    loss.backward();
    return loss;
  };
  SUBCASE("LBFGS") {
    torch::optim::LBFGS lbfgs({weight}, 1.0);
    CHECK(Optimizer(lbfgs).step(closure).item<float>() == 32);
    CHECK(calls > 1);
    CHECK(torch::allclose(weight, torch::ones({2})));
  }
  SUBCASE("AdamW") {
    torch::optim::AdamW adamw({weight}, torch::optim::AdamWOptions(0.5).weight_decay(0));
    torch::NoGradGuard no_grad;  // the closure needs gradients all the same
    CHECK(Optimizer(adamw).step(closure).item<float>() == 32);
    CHECK(calls == 1);
    CHECK(weight[0].item<float>() == doctest::Approx(4.5));
  }
  SUBCASE("scaler") {
    torch::optim::AdamW adamw({weight});
    Optimizer optimizer(adamw, std::make_shared<GradientState>(), std::make_shared<GradScaler>());
    CHECK_THROWS_WITH_AS(optimizer.step(closure), doctest::Contains("cannot be used with fp16"), Error);
    CHECK(calls == 0);
  }
}

TEST_CASE("state saved by torch continues the run, fused or not") {
  const auto start = torch::randn({3, 4});
  std::vector<torch::Tensor> gradients;
  for (int i = 0; i < 6; ++i) gradients.push_back(torch::randn({3, 4}));
  for (bool fused : {true, false}) {
    CAPTURE(fused);
    const auto run = [&](torch::Tensor& weight, Optimizer optimizer, int from, int to) {
      for (int i = from; i < to; ++i) {
        weight.mutable_grad() = gradients[i];
        optimizer.step();
      }
    };
    const auto handle = [&](torch::optim::Optimizer& optimizer) {
      return Optimizer(optimizer, std::make_shared<GradientState>(), nullptr, {.fused = fused});
    };
    auto whole = start.clone().set_requires_grad(true);
    torch::optim::AdamW whole_adamw({whole}, 0.1);
    run(whole, handle(whole_adamw), 0, 6);

    auto half = start.clone().set_requires_grad(true);
    torch::optim::AdamW half_adamw({half}, 0.1);
    run(half, handle(half_adamw), 0, 3);
    std::stringstream file;
    torch::save(half_adamw, file);
    auto resumed = half.detach().clone().set_requires_grad(true);
    torch::optim::AdamW resumed_adamw({resumed}, 0.7);
    auto optimizer = handle(resumed_adamw);
    resumed.mutable_grad() = gradients[0];
    optimizer.step();  // so that loading has to replace state that the handle already used
    resumed.data().copy_(half);
    torch::load(resumed_adamw, file);
    run(resumed, optimizer, 3, 6);
    CHECK(torch::equal(resumed, whole));
  }
}

TEST_CASE("a gradient laid out otherwise than its parameter counts element by element") {
  const auto start = torch::randn({3, 4});
  const auto gradient = torch::randn({4, 3}).t();
  const auto expected = weights_after_steps(start, gradient.contiguous(), false);
  CHECK(torch::equal(weights_after_steps(start, gradient, true), expected));
  CHECK(torch::equal(weights_after_steps(start.t().contiguous().t(), gradient, true),
                     weights_after_steps(start, gradient.contiguous(), true)));
  const auto expanded = torch::ones({1}).expand({3, 4});
  CHECK(torch::equal(weights_after_steps(start, expanded, true),
                     weights_after_steps(start, expanded.contiguous(), false)));
}

TEST_CASE("parameters of several types step together") {
  for (bool fused : {true, false}) {
    std::vector<torch::Tensor> parameters;
    for (auto type : {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kDouble}) {
      parameters.push_back(torch::ones({5}, type).set_requires_grad(true));
      parameters.back().mutable_grad() = torch::ones({5}, type);
    }
    torch::optim::SGD sgd(parameters, torch::optim::SGDOptions(0.25).momentum(0.5));
    Optimizer optimizer(sgd, std::make_shared<GradientState>(), nullptr, {.fused = fused});
    optimizer.step();
    optimizer.step();
    for (const auto& parameter : parameters) CHECK(parameter.sum().item<double>() == 5 * (1 - 0.25 - 0.375));
  }
}

TEST_CASE("momentum starts with a parameter's own first gradient") {
  for (bool fused : {true, false}) {
    auto early = weight_with_gradient(1), late = torch::ones({1}, torch::requires_grad());
    torch::optim::SGD sgd({early, late}, torch::optim::SGDOptions(0.25).momentum(0.5).dampening(0.5));
    Optimizer optimizer(sgd, std::make_shared<GradientState>(), nullptr, {.fused = fused});
    optimizer.step();
    late.mutable_grad() = torch::ones({1});
    optimizer.step();
    CHECK(late.item<float>() == 0.75f);  // the first gradient is not dampened
    CHECK(early.item<float>() == 1 - 0.25f - 0.25f);
  }
}

TEST_CASE("sparse gradients work with SGD and are refused by Adam with advice") {
  for (bool fused : {true, false}) {
    torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(4, 2).sparse(true));
    const auto before = embedding->weight.detach().clone();
    embedding(torch::tensor({1, 1, 3})).sum().backward();
    torch::optim::SGD sgd(embedding->parameters(), 0.5);
    Optimizer(sgd, std::make_shared<GradientState>(), nullptr, {.fused = fused}).step();
    const auto change = (before - embedding->weight).sum(1);
    CHECK(torch::allclose(change, torch::tensor({0.f, 2.f, 0.f, 1.f})));

    torch::optim::AdamW adamw(embedding->parameters());
    Optimizer optimizer(adamw, std::make_shared<GradientState>(), nullptr, {.fused = fused});
    CHECK_THROWS_WITH_AS(optimizer.step(), doctest::Contains("is sparse; use SGD or Adagrad"), Error);
  }
}

TEST_CASE("after a failed step the next one starts afresh") {
  auto weight = weight_with_gradient(1);
  auto table = torch::ones({2, 1}, torch::requires_grad());
  table.mutable_grad() = torch::ones({2, 1}).to_sparse();
  torch::optim::Adam adam({weight, table}, 0.25);
  Optimizer optimizer(adam);
  CHECK_THROWS_AS(optimizer.step(), Error);
  CHECK(weight.item<float>() == 1);
  table.mutable_grad().reset();
  optimizer.step();
  CHECK(weight.item<float>() > 0.7);  // one step of 0.25, not two
}

TEST_CASE("gradients are free to go after the step") {
  auto weight = weight_with_gradient(1);
  torch::optim::AdamW adamw({weight});
  Optimizer optimizer(adamw);
  optimizer.step();
  CHECK(weight.grad().use_count() == 1);
}

TEST_CASE("complex parameters step as pairs of real ones") {
  const auto start = torch::randn({4}, torch::kComplexFloat), gradient = torch::randn({4}, torch::kComplexFloat);
  const auto expected = weights_after_steps(torch::view_as_real(start), torch::view_as_real(gradient), false);
  CHECK(torch::equal(torch::view_as_real(weights_after_steps(start, gradient, true)), expected));
}

TEST_CASE("groups keep their own options") {
  auto first = weight_with_gradient(1), second = weight_with_gradient(1);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<torch::Tensor>{first}, std::make_unique<torch::optim::SGDOptions>(0.25));
  groups.emplace_back(std::vector<torch::Tensor>{second}, std::make_unique<torch::optim::SGDOptions>(0.5));
  torch::optim::SGD sgd(groups, torch::optim::SGDOptions(1));
  Optimizer(sgd).step();
  CHECK(first.item<float>() == 0.75);
  CHECK(second.item<float>() == 0.5);
}

TEST_CASE("a class derived from a known optimizer takes its own step") {
  struct Doubling : torch::optim::SGD {
    using SGD::SGD;
    torch::Tensor step(LossClosure = nullptr) override {
      for (auto& parameter : param_groups()[0].params()) parameter.data().mul_(2);
      return {};
    }
  };
  auto weight = weight_with_gradient(1);
  Doubling doubling(std::vector<torch::Tensor>{weight}, torch::optim::SGDOptions(0.5));
  Optimizer optimizer(doubling);
  optimizer.step();
  CHECK(weight.item<float>() == 2);
  Optimizer(optimizer).step();  // a copy refers to the same one
  CHECK(weight.item<float>() == 4);
}

TEST_CASE("state follows its parameter to another device") {
  auto weight = torch::ones({3}, torch::device(torch::kMeta)).set_requires_grad(true);
  torch::optim::AdamW adamw({weight});
  auto state = std::make_unique<torch::optim::AdamWParamState>();
  state->exp_avg(torch::zeros({3}));
  state->exp_avg_sq(torch::zeros({3}));
  adamw.state()[weight.unsafeGetTensorImpl()] = std::move(state);
  Optimizer optimizer(adamw);
  int visited = 0;
  train::for_each_state_tensor(*adamw.state().begin()->second, [&](torch::Tensor& tensor) {
    CHECK(tensor.is_meta());
    ++visited;
  });
  CHECK(visited == 2);
}

TEST_CASE("the state of every libtorch optimizer is visited") {
  const auto visited_after_step = [](auto&& optimizer, const torch::Tensor& weight) {
    optimizer.step([&] {
      weight.mutable_grad().reset();
      auto loss = weight.pow(4).sum();
      loss.backward();
      return loss;
    });
    int visited = 0;
    for (auto& [key, state] : optimizer.state()) {
      train::for_each_state_tensor(*state, [&](torch::Tensor&) { ++visited; });
    }
    return visited;
  };
  const auto weight = random_parameter({3});
  const std::vector<torch::Tensor> weights{weight};
  using namespace torch::optim;
  CHECK(visited_after_step(Adam(weights), weight) == 2);
  CHECK(visited_after_step(AdamW(weights, AdamWOptions().amsgrad(true)), weight) == 3);
  CHECK(visited_after_step(SGD(weights, SGDOptions(0.1).momentum(0.9)), weight) == 1);
  CHECK(visited_after_step(RMSprop(weights, RMSpropOptions().momentum(0.9).centered(true)), weight) == 3);
  CHECK(visited_after_step(Adagrad(weights), weight) == 1);
  CHECK(visited_after_step(LBFGS(weights, LBFGSOptions().max_iter(3)), weight) > 5);
}
