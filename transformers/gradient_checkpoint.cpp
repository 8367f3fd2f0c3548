#include "transformers/gradient_checkpoint.h"

#include <algorithm>

#include <ATen/core/Generator.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "accelerate/base/scope.h"

namespace transformers {

namespace {

using Recipe = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

const at::Generator& generator_of(const at::Tensor& x) { return at::globalContext().defaultGenerator(x.device()); }

at::Tensor random_state(at::Generator generator) {
  std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(at::Generator generator, const at::Tensor& state) {
  std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

struct Recomputed : torch::autograd::Function<Recomputed> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, at::TensorList inputs, const Recipe& function) {
    auto kept = inputs.vec();
    kept.push_back(random_state(generator_of(inputs[0])));
    context->save_for_backward(kept);
    context->saved_data["function"] = c10::IValue::make_capsule(c10::make_intrusive<Kept>(function));
    return function(inputs.vec());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto inputs = context->get_saved_variables();
    auto first_random_state = inputs.back();
    inputs.pop_back();
    for (auto& input : inputs) input = input.detach().requires_grad_(input.requires_grad());
    auto capsule = context->saved_data["function"].toCapsule();
    const auto& function = static_cast<Kept&>(*capsule).function;

    auto generator = generator_of(inputs[0]);
    auto now = random_state(generator);
    accelerate::ScopeExit go_on([&] { set_random_state(generator, now); });
    set_random_state(generator, first_random_state);
    at::Tensor y;
    {
      at::AutoGradMode with_gradients(true);
      y = function(inputs);
    }
    torch::autograd::backward({y}, {gradients[0]});
    torch::autograd::variable_list results;
    for (const auto& input : inputs) results.push_back(input.grad());
    results.emplace_back();  // of the function itself
    return results;
  }

  struct Kept : torch::CustomClassHolder {
    explicit Kept(Recipe function) : function(std::move(function)) {}
    Recipe function;
  };
};

}  // namespace

at::Tensor gradient_checkpoint(const Recipe& function, const std::vector<at::Tensor>& inputs) {
  bool needed = std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.requires_grad(); });
  if (!at::GradMode::is_enabled() || !needed) return function(inputs);
  return Recomputed::apply(at::TensorList(inputs), function);
}

}  // namespace transformers
