#include "accelerate/train/fused_step.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/scope.h"
#include "accelerate/comm/all_gather_slices.h"
#include "accelerate/sharding/layout.h"
#include "accelerate/sharding/optimizer_sharding.h"
#include "accelerate/tensors/flat_view.h"
#include "accelerate/train/fused_kernels.h"

namespace accelerate::train {
namespace {

using sharding::OptimizerSharding;

// Bytes of a rank's shards that are stepped and sent in one round. Small enough to be still in the cache when sent.
constexpr int64_t kRoundBytes = 1024 * 1024;

at::Tensor laid_out_as(const at::Tensor& parameter, const at::Tensor& gradient) {
  return same_layout(parameter, gradient) ? gradient : at::empty_like(parameter).copy_(gradient);
}

template <class Kernel>
class FusedStep : public StepStrategy {
 public:
  using StepStrategy::step;
  using Options = typename Kernel::Options;

  void step(torch::optim::Optimizer& optimizer, OptimizerSharding* sharding) override {
    at::NoGradGuard no_grad;
    if (sharding && sharding->gradients_are_local()) {
      get_logger("accelerate.train")
          .info("gradients were not averaged; from now on each rank steps all parameters itself");
      sharding->end();
    }
    if constexpr (requires { &Kernel::state_tensors; }) {
      if (sharding) move_state_to_shared_memory(optimizer, *sharding);
    }
    std::vector<ShardedParameter> sharded;
    for (auto& group : optimizer.param_groups()) {
      const auto& options = static_cast<const Options&>(group.options());
      // Clears also after an error. A gradient that is still referenced here could not be freed by zero_grad.
      ScopeExit clear_lists([this] { calls_.clear(); });
      for (const auto& parameter : group.params()) {
        if (!parameter.grad().defined()) continue;
        if (sharding && sharding->shards(parameter)) {
          sharded.push_back(own_shard(optimizer, *sharding, parameter, options));
        } else if (auto operands = Kernel::operands(optimizer, parameter, {parameter, parameter.grad()}, options)) {
          calls_.add(*operands);
        } else {
          Kernel::Rule::update(optimizer, parameter, options);
        }
      }
      run(calls_, options);
    }
    if (!sharded.empty()) step_shards(sharded, sharding->group());
  }

  bool can_shard() const override { return true; }

 private:
  struct ShardedParameter {
    at::Tensor flat;                         // the whole parameter, flat
    Operands<Kernel::kNumTensors> operands;  // of this rank's shard
    const Options* options;                  // of its parameter group
  };

  /// Moves the state that this step needs into shared memory, for parameters with shared state. Other code may have
  /// created or replaced it.
  static void move_state_to_shared_memory(torch::optim::Optimizer& optimizer, OptimizerSharding& sharding) {
    using State = typename Kernel::Rule::State;
    std::vector<sharding::StateTensor> tensors;
    std::vector<std::pair<at::Tensor, std::unique_ptr<State>>> fresh;
    for (auto& group : optimizer.param_groups()) {
      const auto& options = static_cast<const Options&>(group.options());
      for (const auto& parameter : group.params()) {
        if (!parameter.grad().defined() || !sharding.shards(parameter)) continue;
        if (!sharding.has_shared_state(parameter)) continue;
        auto* state = find_state<State>(optimizer, parameter);
        if (!state) state = fresh.emplace_back(parameter, std::make_unique<State>()).second.get();
        for (auto* tensor : Kernel::state_tensors(*state, options)) tensors.push_back({parameter, tensor});
      }
    }
    if (tensors.empty()) return;
    sharding.move_to_shared_memory(tensors);
    for (auto& [parameter, state] : fresh) add_state(optimizer, parameter, std::move(state));
  }

  static ShardedParameter own_shard(torch::optim::Optimizer& optimizer, const OptimizerSharding& sharding,
                                    const at::Tensor& parameter, const Options& options) {
    auto operands = Kernel::operands(
        optimizer, parameter,
        {.values = sharding.own_shard(parameter),
         .gradient = sharding.own_shard(laid_out_as(parameter, parameter.grad())),
         .slice_of = [&](const at::Tensor& state) { return sharding.own_shard_of_state(parameter, state); }},
        options);
    if (!operands) {
      fail("the state of a parameter of shape ", parameter.sizes(), " does not match rank ", sharding.group().rank(),
           " of ", sharding.group().size(), "; load it with load_state or load_state_dict");
    }
    return {.flat = tensors::flat_view(parameter), .operands = std::move(*operands), .options = &options};
  }

  static void run(KernelCalls<Kernel::kNumTensors>& calls, const Options& options) {
    calls.run([&](KernelCall<Kernel::kNumTensors>& call) { Kernel::run(call, options); });
  }

  /// Steps this rank's shards and all-gathers the results. Handles all parameter groups in one exchange, because ranks
  /// wait for each other in each.
  static void step_shards(const std::vector<ShardedParameter>& parameters, const comm::Group& group) {
    std::vector<at::Tensor> tensors;
    std::vector<ShardLayout> layouts;
    for (const auto& [flat, operands, options] : parameters) {
      tensors.push_back(flat);
      layouts.push_back(sharding::layout_of(flat.numel(), static_cast<int64_t>(flat.itemsize()), group.size()));
    }
    const auto plan = sharding::plan_rounds(std::move(layouts), kRoundBytes);
    const auto compute = [&](size_t round) {
      at::NoGradGuard no_grad;  // may run on another thread
      step_slices(parameters, plan.rounds[round]);
    };
    comm::all_gather_slices(group, tensors, plan, compute,
                            "the step of the optimizer, which ranks share unless zero_stage is 0");
  }

  /// Steps slices of this rank's shards.
  static void step_slices(const std::vector<ShardedParameter>& parameters, const std::vector<Slice>& slices) {
    KernelCalls<Kernel::kNumTensors> calls;
    for (size_t i = 0; i < slices.size(); ++i) {
      const auto& [index, begin, longest] = slices[i];
      const auto& [flat, operands, options] = parameters[index];
      const int64_t length = std::min(longest, operands.tensors[0].numel() - begin);
      if (length > 0) calls.add(operands.narrow(begin, length));
      const bool ends_group = i + 1 == slices.size() || parameters[slices[i + 1].tensor].options != options;
      if (ends_group) run(calls, *options);
    }
  }

  KernelCalls<Kernel::kNumTensors> calls_;
};

}  // namespace

std::unique_ptr<StepStrategy> make_fused_adam_step() {
  return std::make_unique<FusedStep<AdamKernel<AdamOriginalRule>>>();
}

std::unique_ptr<StepStrategy> make_fused_adamw_step() { return std::make_unique<FusedStep<AdamKernel<AdamWRule>>>(); }

std::unique_ptr<StepStrategy> make_fused_sgd_step() { return std::make_unique<FusedStep<SgdKernel>>(); }

}  // namespace accelerate::train
