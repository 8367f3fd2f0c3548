#include "accelerate/train/fused_step.h"

#include <vector>

#include <ATen/ATen.h>

#include "accelerate/base/scope.h"
#include "accelerate/train/optimizer_rules.h"

namespace accelerate::train {
namespace {

// The kernels walk raw memory: where tensors are laid out differently they pair the wrong elements, without an error.
bool same_layout(const at::Tensor& left, const at::Tensor& right) {
  return left.scalar_type() == right.scalar_type() && left.device() == right.device() &&
         ((left.is_contiguous() && right.is_contiguous()) || left.strides() == right.strides());
}

bool has_kernel(const at::Tensor& parameter, const at::Tensor& gradient) {
  return (parameter.is_cpu() || parameter.is_cuda()) && parameter.is_floating_point() && !gradient.is_sparse() &&
         parameter.is_non_overlapping_and_dense() && same_layout(parameter, gradient);
}

// A lane holds the arguments of one kernel call. Its lists are filled anew at every step, because gradients come and go
// and state may be loaded, but keep their memory. This is what all of its tensors have in common.
struct LaneKey {
  at::Device device;
  at::ScalarType type;
  bool first_step;  // the kernel of SGD writes new momentum buffers instead of reading them

  bool operator==(const LaneKey&) const = default;
};

template <class Lane>
Lane& lane_for(std::vector<Lane>& lanes, const LaneKey& key) {
  for (auto& lane : lanes) {
    if (lane.key == key) return lane;
  }
  return lanes.emplace_back(key);
}

template <class AdamRule>
class AdamKernel {
 public:
  using Rule = AdamRule;
  using Options = typename Rule::Options;

  // Takes the parameter into the next call; false where the kernel cannot.
  bool add(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options) {
    const auto& gradient = parameter.grad();
    auto& state = Rule::state(optimizer, parameter, options);
    if (!has_kernel(parameter, gradient) || !same_layout(parameter, state.exp_avg()) ||
        !same_layout(parameter, state.exp_avg_sq())) {
      return false;
    }
    if (options.amsgrad() && !same_layout(parameter, state.max_exp_avg_sq())) return false;

    auto& lane = lane_for(lanes_, {parameter.device(), parameter.scalar_type(), false});
    state.step(state.step() + 1);
    lane.steps.push_back(lane.step_tensor(state.step()));
    lane.parameters.push_back(parameter);
    lane.gradients.push_back(gradient);
    lane.exp_avgs.push_back(state.exp_avg());
    lane.exp_avg_sqs.push_back(state.exp_avg_sq());
    if (options.amsgrad()) lane.max_exp_avg_sqs.push_back(state.max_exp_avg_sq());
    return true;
  }

  void run(const Options& options) {
    constexpr auto kernel =
        Rule::decoupled_weight_decay ? &at::_ops::_fused_adamw_::call : &at::_ops::_fused_adam_::call;
    const auto [beta1, beta2] = options.betas();
    for (auto& lane : lanes_) {
      if (lane.parameters.empty()) continue;
      kernel(lane.parameters, lane.gradients, lane.exp_avgs, lane.exp_avg_sqs, lane.max_exp_avg_sqs, lane.steps,
             options.lr(), beta1, beta2, options.weight_decay(), options.eps(), options.amsgrad(), /*maximize=*/false,
             /*grad_scale=*/std::nullopt, /*found_inf=*/std::nullopt);
    }
  }

  void clear() {
    for (auto& lane : lanes_) lane.clear();
  }

 private:
  struct Lane {
    explicit Lane(const LaneKey& key)
        : key(key), shared_step(at::zeros({}, at::TensorOptions(key.device).dtype(at::kFloat))) {}

    // The kernel reads step counts from tensors. Parameters nearly always agree, so they share one.
    at::Tensor step_tensor(int64_t step) {
      if (steps.empty()) {
        shared_step.fill_(step);
        shared_step_value = step;
      }
      return step == shared_step_value ? shared_step : at::full_like(shared_step, step);
    }

    void clear() {
      for (auto* list : {&parameters, &gradients, &exp_avgs, &exp_avg_sqs, &max_exp_avg_sqs, &steps}) list->clear();
    }

    LaneKey key;
    std::vector<at::Tensor> parameters, gradients, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps;
    at::Tensor shared_step;
    int64_t shared_step_value = 0;
  };

  std::vector<Lane> lanes_;
};

class SgdKernel {
 public:
  using Rule = SgdRule;
  using Options = Rule::Options;

  // Takes the parameter into the next call; false where the kernel cannot.
  bool add(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options) {
    const auto& gradient = parameter.grad();
    const bool has_momentum = options.momentum() != 0;
    auto* state = has_momentum ? find_state<Rule::State>(optimizer, parameter) : nullptr;
    if (!has_kernel(parameter, gradient) || (state && !same_layout(parameter, state->momentum_buffer()))) return false;

    auto& lane = lane_for(lanes_, {parameter.device(), parameter.scalar_type(), has_momentum && !state});
    if (has_momentum && !state) {
      state = &add_state(optimizer, parameter, std::make_unique<Rule::State>());
      state->momentum_buffer(at::empty_like(gradient));
    }
    lane.parameters.push_back(parameter);
    lane.gradients.push_back(gradient);
    if (state) lane.momentum_buffers.push_back(state->momentum_buffer());
    return true;
  }

  void run(const Options& options) {
    for (auto& lane : lanes_) {
      if (lane.parameters.empty()) continue;
      at::_fused_sgd_(lane.parameters, lane.gradients, lane.momentum_buffers, options.weight_decay(),
                      options.momentum(), options.lr(), options.dampening(), options.nesterov(), /*maximize=*/false,
                      lane.key.first_step);
    }
  }

  void clear() {
    for (auto& lane : lanes_) {
      for (auto* list : {&lane.parameters, &lane.gradients, &lane.momentum_buffers}) list->clear();
    }
  }

 private:
  struct Lane {
    explicit Lane(const LaneKey& key) : key(key) {}

    LaneKey key;
    std::vector<at::Tensor> parameters, gradients, momentum_buffers;
  };

  std::vector<Lane> lanes_;
};

template <class Kernel>
class FusedStep : public StepStrategy {
 public:
  using StepStrategy::step;

  void step(torch::optim::Optimizer& optimizer) override {
    at::NoGradGuard no_grad;
    for (auto& group : optimizer.param_groups()) {
      const auto& options = static_cast<const typename Kernel::Options&>(group.options());
      // Also after an error, and because a gradient still held here could not be freed by zero_grad.
      ScopeExit clear_lists([this] { kernel_.clear(); });
      for (const auto& parameter : group.params()) {
        if (!parameter.grad().defined()) continue;
        if (!kernel_.add(optimizer, parameter, options)) Kernel::Rule::update(optimizer, parameter, options);
      }
      kernel_.run(options);
    }
  }

 private:
  Kernel kernel_;
};

}  // namespace

std::unique_ptr<StepStrategy> make_fused_adam_step() {
  return std::make_unique<FusedStep<AdamKernel<AdamOriginalRule>>>();
}

std::unique_ptr<StepStrategy> make_fused_adamw_step() { return std::make_unique<FusedStep<AdamKernel<AdamWRule>>>(); }

std::unique_ptr<StepStrategy> make_fused_sgd_step() { return std::make_unique<FusedStep<SgdKernel>>(); }

}  // namespace accelerate::train
