#include "accelerate/train/fused_step.h"

#include <vector>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "accelerate/comm/exchange_shares.h"
#include "accelerate/train/fused_kernels.h"
#include "accelerate/train/optimizer_sharding.h"

namespace accelerate::train {
namespace {

// Of a rank's shares, stepped and sent at a time: few enough to be in the cache still when they are sent.
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
    if (sharding_ && sharding_->gradients_are_local()) sharding_->end(optimizer);
    for (auto& group : optimizer.param_groups()) {
      const auto& options = static_cast<const Options&>(group.options());
      // Also after an error, and because a gradient still held here could not be freed by zero_grad.
      ScopeExit clear_lists([this] { lanes_.clear(); });
      std::vector<Sharded> sharded;
      for (const auto& parameter : group.params()) {
        if (!parameter.grad().defined()) continue;
        if (sharding_ && sharding_->shards(parameter)) {
          sharded.push_back(shard_of(optimizer, parameter, options));
        } else if (auto operands = Kernel::operands(optimizer, parameter, parameter, parameter.grad(), options)) {
          lanes_.add(*operands);
        } else {
          Kernel::Rule::update(optimizer, parameter, options);
        }
      }
      run(options);
      if (!sharded.empty()) step_together(sharded, options);
    }
  }

  bool shard(std::shared_ptr<OptimizerSharding> sharding) override {
    sharding_ = std::move(sharding);
    return true;
  }

 private:
  struct Sharded {
    at::Tensor flat;                         // the values of the whole parameter
    Operands<Kernel::kNumTensors> operands;  // of this rank's share
  };

  Sharded shard_of(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options) {
    const int rank = sharding_->group().rank();
    const auto gradient = sharding_->share(laid_out_as(parameter, parameter.grad()), rank);
    auto operands = Kernel::operands(optimizer, parameter, sharding_->share(parameter, rank), gradient, options);
    if (!operands) {
      fail("the state of a parameter of shape ", parameter.sizes(), " does not fit rank ", rank, " of ",
           sharding_->group().size(), "; load it with load_state or load_state_dict");
    }
    return {.flat = flat_view(parameter), .operands = std::move(*operands)};
  }

  void run(const Options& options) {
    lanes_.run([&](Lane<Kernel::kNumTensors>& lane) { Kernel::run(lane, options); });
  }

  /// Steps this rank's shares and exchanges them for those of the others.
  void step_together(const std::vector<Sharded>& parameters, const Options& options) {
    const auto& group = sharding_->group();
    std::vector<at::Tensor> tensors;
    std::vector<ShareSize> sizes;
    for (const auto& [flat, operands] : parameters) {
      tensors.push_back(flat);
      sizes.push_back({.length = share_of(flat.numel(), 0, group.size()).length,
                       .element_bytes = static_cast<int64_t>(flat.itemsize())});
    }
    const auto rounds = rounds_of(sizes, kRoundBytes);
    comm::exchange_shares(group, tensors, rounds.size(), [&](size_t round) {
      comm::Shares shares(group.size());
      for (const auto& [index, stretch] : rounds[round]) {
        const auto& [flat, operands] = parameters[index];
        for (int rank = 0; rank < group.size(); ++rank) {
          const auto share = share_of(flat.numel(), rank, group.size());
          const int64_t length = std::min(stretch.length, share.length - stretch.begin);
          if (length <= 0) continue;
          shares[rank].push_back({.tensor = index, .begin = share.begin + stretch.begin, .length = length});
          if (rank == group.rank()) lanes_.add(operands.narrow(stretch.begin, length));
        }
      }
      run(options);
      return shares;
    });
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
