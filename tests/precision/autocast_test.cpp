#include "accelerate/precision/autocast.h"
#include "tests/support/torch.h"

#include <string>

#include <ATen/autocast_mode.h>
#include <doctest/doctest.h>

using namespace accelerate;

namespace {

std::string type_name(const torch::Tensor& tensor) { return at::toString(tensor.scalar_type()); }

// The type that a matrix product of float32 inputs has here and now.
std::string product_type() { return type_name(torch::mm(torch::ones({2, 2}), torch::ones({2, 2}))); }

}  // namespace

TEST_CASE("autocast computes in half precision inside its scope only") {
  CHECK(product_type() == "Float");
  {
    Autocast autocast(torch::kCPU, MixedPrecision::Bf16);
    CHECK(product_type() == "BFloat16");
  }
  CHECK(product_type() == "Float");
  {
    Autocast autocast(torch::kCPU, torch::kHalf);
    CHECK(product_type() == "Half");
  }
  CHECK(product_type() == "Float");
}

TEST_CASE("autocast without mixed precision changes nothing") {
  Autocast outer(torch::kCPU, MixedPrecision::Bf16);
  Autocast inner(torch::kCPU, MixedPrecision::No);
  CHECK(product_type() == "BFloat16");
}

TEST_CASE("scopes nest: disabled inside enabled, and enabled again") {
  Autocast outer(torch::kCPU, MixedPrecision::Bf16);
  {
    Autocast off(torch::kCPU, MixedPrecision::Bf16, {.enabled = false});
    CHECK(product_type() == "Float");
    {
      Autocast on(torch::kCPU, MixedPrecision::Fp16);
      CHECK(product_type() == "Half");
    }
    CHECK(product_type() == "Float");
  }
  CHECK(product_type() == "BFloat16");
}

TEST_CASE("a scope restores flag, type and cache exactly, also when left by an exception") {
  at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
  at::autocast::set_autocast_cache_enabled(false);
  try {
    Autocast autocast(torch::kCPU, MixedPrecision::Bf16);
    CHECK(at::autocast::is_autocast_cache_enabled());
    throw 1;
  } catch (int) {
  }
  CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  CHECK(bool(at::autocast::get_autocast_dtype(at::kCPU) == at::kHalf));
  CHECK_FALSE(at::autocast::is_autocast_cache_enabled());
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_cache_enabled(true);
}

TEST_CASE("cast copies of parameters live until the outermost scope ends, or not at all without the cache") {
  const auto weight = torch::ones({2, 2}, torch::requires_grad());
  const auto input = torch::ones({2, 2});
  const auto product_after_change = [&](AutocastKwargs kwargs) {
    Autocast autocast(torch::kCPU, MixedPrecision::Bf16, kwargs);
    torch::mm(input, weight);
    weight.data().add_(1);
    return torch::mm(input, weight)[0][0].item<float>();
  };
  CHECK(product_after_change({.cache_enabled = true}) == 2);   // the copy of the old value 1
  CHECK(product_after_change({.cache_enabled = true}) == 4);   // a new scope starts with the value 2
  CHECK(product_after_change({.cache_enabled = false}) == 8);  // 3 became 4
}

TEST_CASE("fp16 and bf16 train on the CPU with float32 parameters and gradients") {
  for (auto precision : {MixedPrecision::Fp16, MixedPrecision::Bf16}) {
    torch::manual_seed(0);
    torch::nn::Linear layer(4, 1);
    torch::optim::SGD optimizer(layer->parameters(), 0.1);
    const auto input = torch::randn({32, 4});
    const auto target = input.sum(1, true);
    float first = 0, last = 0;
    for (int step = 0; step < 50; ++step) {
      torch::Tensor output;
      {
        Autocast autocast(torch::kCPU, precision);
        output = layer(input);
      }
      CHECK(type_name(output) == (precision == MixedPrecision::Fp16 ? "Half" : "BFloat16"));
      const auto loss = torch::mse_loss(output.to(torch::kFloat), target);
      optimizer.zero_grad();
      loss.backward();
      CHECK(type_name(layer->weight.grad()) == "Float");
      optimizer.step();
      (step == 0 ? first : last) = loss.item<float>();
    }
    CHECK(last < 0.01f * first);
  }
}
