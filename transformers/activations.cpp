#include "transformers/activations.h"

#include <cmath>
#include <map>
#include <numbers>

#include <ATen/ops/gelu.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>

#include "accelerate/base/error.h"

namespace transformers {

namespace {

at::Tensor gelu(const at::Tensor& x) { return at::gelu(x); }
at::Tensor gelu_tanh(const at::Tensor& x) { return at::gelu(x, "tanh"); }

// Written in single operations, as in Python: the fused kernel rounds in another way.
at::Tensor gelu_new(const at::Tensor& x) {
  return 0.5 * x * (1.0 + at::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * at::pow(x, 3.0))));
}
at::Tensor gelu_fast(const at::Tensor& x) {
  return 0.5 * x * (1.0 + at::tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)));
}
at::Tensor quick_gelu(const at::Tensor& x) { return x * at::sigmoid(1.702 * x); }

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
  std::string names;
  for (const auto& [other, function] : known()) names += (names.empty() ? "" : ", ") + other;
  accelerate::fail("the activation '", name, "' is not known; there are ", names);
}

}  // namespace transformers
