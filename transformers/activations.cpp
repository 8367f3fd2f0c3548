#include "transformers/activations.h"

#include <cmath>
#include <map>
#include <numbers>
#include <ranges>

#include <ATen/ops/gelu.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace transformers {

namespace {

at::Tensor gelu(const at::Tensor& x) { return at::gelu(x); }
at::Tensor gelu_tanh(const at::Tensor& x) { return at::gelu(x, "tanh"); }

// Single operations in Python's order. The fused kernel rounds differently, and the order of operations determines the
// order in which gradients are summed.
at::Tensor gelu_new(const at::Tensor& x) {
  auto half = 0.5 * x;
  auto cubic = 0.044715 * at::pow(x, 3.0);
  auto inner = std::sqrt(2.0 / std::numbers::pi) * (x + cubic);
  return half * (1.0 + at::tanh(inner));
}
at::Tensor gelu_fast(const at::Tensor& x) {
  auto half = 0.5 * x;
  auto scaled = x * 0.7978845608;
  auto cubic = 0.044715 * x;
  return half * (1.0 + at::tanh(scaled * (1.0 + cubic * x)));
}
at::Tensor quick_gelu(const at::Tensor& x) {
  auto gate = at::sigmoid(1.702 * x);
  return x * gate;
}

const std::map<std::string, Activation, std::less<>>& known() {
  static const std::map<std::string, Activation, std::less<>> table = {
      {"gelu", gelu},
      {"gelu_new", gelu_new},
      {"gelu_fast", gelu_fast},
      {"gelu_pytorch_tanh", gelu_tanh},
      {"quick_gelu", quick_gelu},
      {"relu", at::relu},
      {"silu", at::silu},
      {"swish", at::silu},
      {"tanh", at::tanh},
      {"sigmoid", at::sigmoid},
  };
  return table;
}

}  // namespace

Activation activation(const std::string& name) {
  auto found = known().find(name);
  if (found != known().end()) return found->second;
  accelerate::fail("the activation '", name, "' is unknown; it can be ", accelerate::listed(std::views::keys(known())));
}

std::vector<std::string> activation_names() {
  auto names = std::views::keys(known());
  return {names.begin(), names.end()};
}

}  // namespace transformers
