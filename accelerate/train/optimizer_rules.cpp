#include "accelerate/train/optimizer_rules.h"

#include <cmath>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"

namespace accelerate::train {
namespace {

at::Tensor real_view(const at::Tensor& tensor) { return tensor.is_complex() ? at::view_as_real(tensor) : tensor; }

}  // namespace

template <class Options, class State>
State& AdamRule<Options, State>::state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                                       const at::Tensor& values, const Options& options) {
  if (parameter.grad().is_sparse()) {
    fail(decoupled_weight_decay ? "AdamW" : "Adam", ": the gradient of a parameter of shape ", parameter.sizes(),
         " is sparse; use SGD or Adagrad for it, or create the embedding without sparse(true)");
  }
  auto* state = find_state<State>(optimizer, parameter);
  if (!state) {
    state = &add_state(optimizer, parameter, std::make_unique<State>());
    state->exp_avg(at::zeros_like(values, at::MemoryFormat::Preserve));
    state->exp_avg_sq(at::zeros_like(values, at::MemoryFormat::Preserve));
  }
  if (options.amsgrad() && !state->max_exp_avg_sq().defined()) {
    state->max_exp_avg_sq(at::zeros_like(values, at::MemoryFormat::Preserve));
  }
  return *state;
}

template <class Options, class State>
void AdamRule<Options, State>::update(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                                      const Options& options) {
  auto& memory = state(optimizer, parameter, parameter, options);
  const auto [beta1, beta2] = options.betas();
  const double lr = options.lr();
  memory.step(memory.step() + 1);

  auto gradient = parameter.grad();
  if (options.weight_decay() != 0) {
    if constexpr (decoupled_weight_decay) {
      parameter.mul_(1 - lr * options.weight_decay());
    } else {
      gradient = gradient.add(parameter, options.weight_decay());
    }
  }
  gradient = real_view(gradient);
  const auto exp_avg = real_view(memory.exp_avg());
  const auto exp_avg_sq = real_view(memory.exp_avg_sq());
  exp_avg.lerp_(gradient, 1 - beta1);
  exp_avg_sq.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);

  const auto step = static_cast<double>(memory.step());
  const double bias_correction1 = 1 - std::pow(beta1, step);
  const double bias_correction2 = 1 - std::pow(beta2, step);
  auto second_moment = exp_avg_sq;
  if (options.amsgrad()) {
    second_moment = real_view(memory.max_exp_avg_sq());
    at::maximum_out(second_moment, second_moment, exp_avg_sq);
  }
  // pow, not sqrt, which may round differently from Python's `** 0.5`.
  const auto denominator = (second_moment.sqrt() / std::pow(bias_correction2, 0.5)).add_(options.eps());
  real_view(parameter).addcdiv_(exp_avg, denominator, -(lr / bias_correction1));
}

template struct AdamRule<torch::optim::AdamOptions, torch::optim::AdamParamState>;
template struct AdamRule<torch::optim::AdamWOptions, torch::optim::AdamWParamState>;

void SgdRule::update(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options) {
  auto gradient = parameter.grad();
  if (options.weight_decay() != 0) gradient = gradient.add(parameter, options.weight_decay());
  if (options.momentum() != 0) {
    auto* state = find_state<State>(optimizer, parameter);
    if (state) {
      state->momentum_buffer().mul_(options.momentum()).add_(gradient, 1 - options.dampening());
    } else {
      state = &add_state(optimizer, parameter, std::make_unique<State>());
      state->momentum_buffer(gradient.detach().clone());
    }
    gradient =
        options.nesterov() ? gradient.add(state->momentum_buffer(), options.momentum()) : state->momentum_buffer();
  }
  parameter.add_(gradient, -options.lr());
}

void RmspropRule::update(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options) {
  auto gradient = parameter.grad();
  if (gradient.is_sparse()) {
    fail("RMSprop: the gradient of a parameter of shape ", parameter.sizes(),
         " is sparse; use SGD or Adagrad for it, or create the embedding without sparse(true)");
  }
  auto zeros = [&] { return at::zeros_like(parameter, at::MemoryFormat::Preserve); };
  auto* state = find_state<State>(optimizer, parameter);
  if (!state) {
    state = &add_state(optimizer, parameter, std::make_unique<State>());
    state->step(0);
    state->square_avg(zeros());
  }
  if (options.momentum() > 0 && !state->momentum_buffer().defined()) state->momentum_buffer(zeros());
  if (options.centered() && !state->grad_avg().defined()) state->grad_avg(zeros());
  state->step(state->step() + 1);

  if (options.weight_decay() != 0) gradient = gradient.add(parameter, options.weight_decay());
  gradient = real_view(gradient);
  const auto square_avg = real_view(state->square_avg());
  square_avg.mul_(options.alpha()).addcmul_(gradient, gradient, 1 - options.alpha());
  at::Tensor avg;
  if (options.centered()) {
    // libtorch's own class uses mul_ and add_ instead of lerp_, which rounds once less.
    const auto grad_avg = real_view(state->grad_avg());
    grad_avg.lerp_(gradient, 1 - options.alpha());
    avg = square_avg.addcmul(grad_avg, grad_avg, -1).sqrt_();
  } else {
    avg = square_avg.sqrt();
  }
  avg.add_(options.eps());
  if (options.momentum() > 0) {
    const auto buffer = real_view(state->momentum_buffer());
    buffer.mul_(options.momentum()).addcdiv_(gradient, avg);
    real_view(parameter).add_(buffer, -options.lr());
  } else {
    real_view(parameter).addcdiv_(gradient, avg, -options.lr());
  }
}

}  // namespace accelerate::train
