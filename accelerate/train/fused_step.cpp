#include "accelerate/train/fused_step.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/scope.h"
#include "accelerate/comm/exchange_shares.h"
#include "accelerate/tensors/flat_view.h"
#include "accelerate/train/fused_kernels.h"
#include "accelerate/train/optimizer_sharding.h"

namespace accelerate::train {
namespace {

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

  void step(torch::optim::Optimizer& optimizer) override {
    at::NoGradGuard no_grad;
    if (sharding_ && sharding_->gradients_are_local()) {
      get_logger("accelerate.train")
          .info("gradients were not averaged; from now on each rank steps all parameters itself");
      sharding_->end(optimizer);
    }
    if constexpr (requires { &Kernel::state_tensors; }) {
      if (sharding_) take_in_state(optimizer);
    }
    std::vector<Sharded> sharded;
    for (auto& group : optimizer.param_groups()) {
      const auto& options = static_cast<const Options&>(group.options());
      // Clears also after an error. A gradient that is still referenced here could not be freed by zero_grad.
      ScopeExit clear_lists([this] { lanes_.clear(); });
      for (const auto& parameter : group.params()) {
        if (!parameter.grad().defined()) continue;
        if (sharding_ && sharding_->shards(parameter)) {
          sharded.push_back(shard_of(optimizer, parameter, options));
        } else if (auto operands = Kernel::operands(optimizer, parameter, {parameter, parameter.grad()}, options)) {
          lanes_.add(*operands);
        } else {
          Kernel::Rule::update(optimizer, parameter, options);
        }
      }
      run(lanes_, options);
    }
    if (!sharded.empty()) step_together(sharded);
  }

  bool shard(std::shared_ptr<OptimizerSharding> sharding) override {
    sharding_ = std::move(sharding);
    return true;
  }

 private:
  struct Sharded {
    at::Tensor flat;                         // the whole parameter, flat
    Operands<Kernel::kNumTensors> operands;  // of this rank's shard
    const Options* options;                  // of its parameter group
  };

  /// Moves the state that this step needs into shared memory, for sharded parameters whose state is kept whole. Other
  /// code may have created or replaced it.
  void take_in_state(torch::optim::Optimizer& optimizer) {
    using State = typename Kernel::Rule::State;
    std::vector<StateTensor> tensors;
    std::vector<std::pair<at::Tensor, std::unique_ptr<State>>> fresh;
    for (auto& group : optimizer.param_groups()) {
      const auto& options = static_cast<const Options&>(group.options());
      for (const auto& parameter : group.params()) {
        if (!parameter.grad().defined() || !sharding_->shards(parameter)) continue;
        if (!sharding_->keeps_whole(parameter)) continue;
        auto* state = find_state<State>(optimizer, parameter);
        if (!state) state = fresh.emplace_back(parameter, std::make_unique<State>()).second.get();
        for (auto* tensor : Kernel::state_tensors(*state, options)) tensors.push_back({parameter, tensor});
      }
    }
    if (tensors.empty()) return;
    sharding_->take_in(tensors);
    for (auto& [parameter, state] : fresh) add_state(optimizer, parameter, std::move(state));
  }

  Sharded shard_of(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options) {
    const int rank = sharding_->group().rank();
    const auto gradient = sharding_->share(laid_out_as(parameter, parameter.grad()), rank);
    auto operands =
        Kernel::operands(optimizer, parameter,
                         {.values = sharding_->share(parameter, rank),
                          .gradient = gradient,
                          .part_of = [&](const at::Tensor& state) { return sharding_->own_share(parameter, state); }},
                         options);
    if (!operands) {
      fail("the state of a parameter of shape ", parameter.sizes(), " does not match rank ", rank, " of ",
           sharding_->group().size(), "; load it with load_state or load_state_dict");
    }
    return {.flat = tensors::flat_view(parameter), .operands = std::move(*operands), .options = &options};
  }

  static void run(Lanes<Kernel::kNumTensors>& lanes, const Options& options) {
    lanes.run([&](Lane<Kernel::kNumTensors>& lane) { Kernel::run(lane, options); });
  }

  /// Steps this rank's shards and all-gathers the results. Handles all parameter groups in one exchange, because ranks
  /// wait for each other in each.
  void step_together(const std::vector<Sharded>& parameters) {
    const auto& group = sharding_->group();
    std::vector<at::Tensor> tensors;
    std::vector<ShareSize> sizes;
    for (const auto& parameter : parameters) {
      tensors.push_back(parameter.flat);
      sizes.push_back({.length = share_of(parameter.flat.numel(), 0, group.size()).length,
                       .element_bytes = static_cast<int64_t>(parameter.flat.itemsize())});
    }
    const auto rounds = rounds_of(sizes, kRoundBytes);
    const auto make = [&](size_t round) {
      at::NoGradGuard no_grad;  // may run on another thread
      run(parameters, rounds[round]);
      return shares_of(rounds[round], tensors);
    };
    comm::exchange_shares(group, tensors, rounds.size(), make,
                          "the step of the optimizer, which ranks share unless zero_stage is 0");
  }

  /// Steps this rank's part of `portions`.
  void run(const std::vector<Sharded>& parameters, const std::vector<Portion>& portions) const {
    Lanes<Kernel::kNumTensors> lanes;
    for (size_t i = 0; i < portions.size(); ++i) {
      const auto& [index, stretch] = portions[i];
      const auto& [flat, operands, options] = parameters[index];
      const int64_t length = std::min(stretch.length, operands.tensors[0].numel() - stretch.begin);
      if (length > 0) lanes.add(operands.narrow(stretch.begin, length));
      const bool ends_group = i + 1 == portions.size() || parameters[portions[i + 1].tensor].options != options;
      if (ends_group) run(lanes, *options);
    }
  }

  /// The slices of `tensors` that belong to each rank in `portions`.
  comm::Shares shares_of(const std::vector<Portion>& portions, const std::vector<at::Tensor>& tensors) const {
    const int size = sharding_->group().size();
    comm::Shares shares(size);
    for (const auto& [index, stretch] : portions) {
      for (int rank = 0; rank < size; ++rank) {
        const auto share = share_of(tensors[index].numel(), rank, size);
        const int64_t length = std::min(stretch.length, share.length - stretch.begin);
        if (length <= 0) continue;
        shares[rank].push_back({.tensor = index, .begin = share.begin + stretch.begin, .length = length});
      }
    }
    return shares;
  }

  Lanes<Kernel::kNumTensors> lanes_;
  std::shared_ptr<OptimizerSharding> sharding_;
};

}  // namespace

std::unique_ptr<StepStrategy> make_fused_adam_step() {
  return std::make_unique<FusedStep<AdamKernel<AdamOriginalRule>>>();
}

std::unique_ptr<StepStrategy> make_fused_adamw_step() { return std::make_unique<FusedStep<AdamKernel<AdamWRule>>>(); }

std::unique_ptr<StepStrategy> make_fused_sgd_step() { return std::make_unique<FusedStep<SgdKernel>>(); }

}  // namespace accelerate::train
