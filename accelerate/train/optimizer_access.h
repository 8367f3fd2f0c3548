#pragma once

// How the library shards the step of a prepared optimizer. Programs set zero_stage instead.

#include <memory>

#include "accelerate/train/optimizer.h"

namespace accelerate::parallel {
class Replicas;
}

namespace accelerate::train {

/// What the handle of an optimizer does not show.
struct OptimizerAccess {
  /// ZeRO-1: shards the step of the parameters of `replicas`. Each rank steps its shard, and ranks all-gather the
  /// results, which are bit-identical. step() becomes collective. If ranks share memory, the state of Adam and AdamW is
  /// one copy per machine. Otherwise a rank keeps the state of its shard, `state()` shows only this, and state_dict()
  /// is collective. Returns false, and changes nothing, if the optimizer has no fused step. A step on gradients that
  /// were not averaged ends the sharding, as unshard() does.
  static bool shard(const Optimizer& optimizer, const std::shared_ptr<parallel::Replicas>& replicas);

  /// ZeRO-2: ranks of a sharded optimizer keep only their shards of averaged gradients.
  static void shard_gradients(const Optimizer& optimizer);

  /// How ranks divide the step; null if it is not sharded, or no longer.
  static sharding::OptimizerSharding* sharding(const Optimizer& optimizer);
};

}  // namespace accelerate::train
