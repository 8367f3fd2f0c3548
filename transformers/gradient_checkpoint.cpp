#include "transformers/gradient_checkpoint.h"

#include <ATen/core/Generator.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "accelerate/base/scope.h"

namespace transformers {

namespace {

using Recipe = std::function<at::Tensor(const at::Tensor&)>;

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
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const Recipe& function) {
    context->save_for_backward({x, random_state(generator_of(x))});
    context->saved_data["function"] = c10::IValue::make_capsule(c10::make_intrusive<Kept>(function));
    return function(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto saved = context->get_saved_variables();
    auto x = saved[0].detach().requires_grad_(true);
    auto capsule = context->saved_data["function"].toCapsule();
    const auto& function = static_cast<Kept&>(*capsule).function;

    auto now = random_state(generator_of(x));
    accelerate::ScopeExit go_on([&] { set_random_state(generator_of(x), now); });
    set_random_state(generator_of(x), saved[1]);
    at::Tensor y;
    {
      at::AutoGradMode with_gradients(true);
      y = function(x);
    }
    torch::autograd::backward({y}, {gradients[0]});
    return {x.grad(), at::Tensor()};
  }

  struct Kept : torch::CustomClassHolder {
    explicit Kept(Recipe function) : function(std::move(function)) {}
    Recipe function;
  };
};

}  // namespace

at::Tensor gradient_checkpoint(const Recipe& function, const at::Tensor& x) {
  if (!at::GradMode::is_enabled() || !x.requires_grad()) return function(x);
  return Recomputed::apply(x, function);
}

}  // namespace transformers
