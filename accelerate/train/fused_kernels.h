#pragma once

// libtorch's fused optimizer kernels. Each steps many tensors in one call. Private to this room.

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include <ATen/ATen.h>

#include "accelerate/train/optimizer_rules.h"

namespace accelerate::train {

/// Whether memory order pairs the same elements of two tensors. The kernels iterate in memory order and do not check.
inline bool same_layout(const at::Tensor& left, const at::Tensor& right) {
  return left.scalar_type() == right.scalar_type() && left.device() == right.device() &&
         left.numel() == right.numel() &&
         ((left.is_contiguous() && right.is_contiguous()) || left.strides() == right.strides());
}

/// Whether the kernels can step `values` by `gradient`.
inline bool has_kernel(const at::Tensor& values, const at::Tensor& gradient) {
  return (values.is_cpu() || values.is_cuda()) && values.is_floating_point() && !gradient.is_sparse() &&
         values.is_non_overlapping_and_dense() && same_layout(values, gradient);
}

/// The input of a step: a parameter and its gradient, or the same slice of both.
struct Target {
  at::Tensor values;
  at::Tensor gradient;
  // The same slice of a tensor of the parameter's state.
  std::function<at::Tensor(const at::Tensor& state)> slice_of = [](const at::Tensor& state) { return state; };
};

/// The properties that all tensors of one call share.
struct KernelCallKey {
  at::Device device;
  at::ScalarType type;
  bool first_step;  // the SGD kernel initializes momentum buffers instead of reading them

  bool operator==(const KernelCallKey&) const = default;
};

/// The tensors of one parameter, or of a slice of it, for a call. Some may be undefined.
template <size_t N>
struct Operands {
  KernelCallKey key;
  std::array<at::Tensor, N> tensors;
  int64_t step = 0;

  /// The operands of a slice. All tensors must have one dimension.
  Operands narrow(int64_t begin, int64_t length) const {
    if (begin == 0 && length == tensors[0].numel()) return *this;
    Operands slice = *this;
    for (auto& tensor : slice.tensors) {
      if (tensor.defined()) tensor = tensor.narrow(0, begin, length);
    }
    return slice;
  }
};

/// The arguments of one call. The lists are refilled in every step, because gradients come and go and state may be
/// loaded, but they keep their capacity.
template <size_t N>
struct KernelCall {
  explicit KernelCall(const KernelCallKey& key)
      : key(key), shared_step(at::zeros({}, at::TensorOptions(key.device).dtype(at::kFloat))) {}

  void add(const Operands<N>& operands) {
    // The kernel reads step counts from tensors. Parameters nearly always have the same count, so they share a tensor.
    if (steps.empty()) {
      shared_step.fill_(operands.step);
      shared_step_value = operands.step;
    }
    steps.push_back(operands.step == shared_step_value ? shared_step : at::full_like(shared_step, operands.step));
    for (size_t i = 0; i < N; ++i) {
      if (operands.tensors[i].defined()) lists[i].push_back(operands.tensors[i]);
    }
  }

  void clear() {
    for (auto& list : lists) list.clear();
    steps.clear();
  }

  KernelCallKey key;
  std::array<std::vector<at::Tensor>, N> lists;
  std::vector<at::Tensor> steps;
  at::Tensor shared_step;
  int64_t shared_step_value = 0;
};

/// Groups operands by key, for one call of a kernel per key.
template <size_t N>
class KernelCalls {
 public:
  void add(const Operands<N>& operands) {
    for (auto& call : calls_) {
      if (call.key == operands.key) return call.add(operands);
    }
    calls_.emplace_back(operands.key).add(operands);
  }

  /// Makes the calls that are not empty, then clears them.
  template <class Kernel>
  void run(Kernel kernel) {
    for (auto& call : calls_) {
      if (!call.steps.empty()) kernel(call);
    }
    clear();
  }

  void clear() {
    for (auto& call : calls_) call.clear();
  }

 private:
  std::vector<KernelCall<N>> calls_;
};

/// Adam, or AdamW. Tensors: values, gradient, first and second moment, and with amsgrad the maximum of the second.
template <class AdamRule>
struct AdamKernel {
  using Rule = AdamRule;
  using Options = typename Rule::Options;
  static constexpr size_t kNumTensors = 5;

  /// The tensors of `state` that a step needs; some may be undefined.
  static std::vector<at::Tensor*> state_tensors(typename Rule::State& state, const Options& options) {
    std::vector<at::Tensor*> tensors{&state.exp_avg(), &state.exp_avg_sq()};
    if (options.amsgrad()) tensors.push_back(&state.max_exp_avg_sq());
    return tensors;
  }

  /// The operands for the next step of `target`, which is `parameter` or a slice of it; nothing if the kernel cannot
  /// handle them. Missing state is created with the layout of the target.
  static std::optional<Operands<kNumTensors>> operands(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                                                       const Target& target, const Options& options) {
    const auto& [values, gradient, slice_of] = target;
    auto& state = Rule::state(optimizer, parameter, values, options);
    if (!has_kernel(values, gradient)) return std::nullopt;
    Operands<kNumTensors> operands{
        .key = {values.device(), values.scalar_type(), false}, .tensors = {values, gradient}, .step = state.step() + 1};
    size_t next = 2;
    for (const auto* tensor : state_tensors(state, options)) {
      auto& slice = operands.tensors[next++] = slice_of(*tensor);
      if (!same_layout(values, slice)) return std::nullopt;
    }
    state.step(operands.step);
    return operands;
  }

  static void run(KernelCall<kNumTensors>& call, const Options& options) {
    constexpr auto kernel =
        Rule::decoupled_weight_decay ? &at::_ops::_fused_adamw_::call : &at::_ops::_fused_adam_::call;
    const auto [beta1, beta2] = options.betas();
    auto& [values, gradients, exp_avgs, exp_avg_sqs, max_exp_avg_sqs] = call.lists;
    kernel(values, gradients, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, call.steps, options.lr(), beta1, beta2,
           options.weight_decay(), options.eps(), options.amsgrad(), /*maximize=*/false, /*grad_scale=*/std::nullopt,
           /*found_inf=*/std::nullopt);
  }
};

/// SGD. Tensors: values, gradient, and with momentum its buffer.
struct SgdKernel {
  using Rule = SgdRule;
  using Options = Rule::Options;
  static constexpr size_t kNumTensors = 3;

  /// See AdamKernel.
  static std::optional<Operands<kNumTensors>> operands(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                                                       const Target& target, const Options& options) {
    const auto& [values, gradient, slice_of] = target;
    const bool has_momentum = options.momentum() != 0;
    auto* state = has_momentum ? find_state<Rule::State>(optimizer, parameter) : nullptr;
    if (!has_kernel(values, gradient)) return std::nullopt;
    if (state && !same_layout(values, slice_of(state->momentum_buffer()))) return std::nullopt;
    const bool first_step = has_momentum && !state;
    if (first_step) {
      state = &add_state(optimizer, parameter, std::make_unique<Rule::State>());
      state->momentum_buffer(at::zeros_like(gradient));  // the kernel fills it, unless an earlier error prevents that
    }
    return Operands<kNumTensors>{
        .key = {values.device(), values.scalar_type(), first_step},
        .tensors = {values, gradient, state ? slice_of(state->momentum_buffer()) : at::Tensor()}};
  }

  static void run(KernelCall<kNumTensors>& call, const Options& options) {
    auto& [values, gradients, momentum_buffers] = call.lists;
    at::_fused_sgd_(values, gradients, momentum_buffers, options.weight_decay(), options.momentum(), options.lr(),
                    options.dampening(), options.nesterov(), /*maximize=*/false, call.key.first_step);
  }
};

}  // namespace accelerate::train
