#pragma once

// The state of torch's optimizers as Python's state_dict, which both Python and this library can load.

#include <functional>

#include "accelerate/tensors/torch_file.h"

namespace torch::optim {
class Optimizer;
}

namespace accelerate::sharding {
class OptimizerSharding;
}

namespace accelerate::train {

/// {"state": {index: {...}}, "param_groups": [{...}]} with Python's keys in Python's order. The tensors are those of
/// the optimizer, not copies. `fused` records for Python which kernel was used. Supports Adam, AdamW, SGD, RMSprop and
/// Adagrad; throws Error for others. With `sharding`, which may be null, all tensors are whole: those that ranks keep
/// in shards are gathered, and the call is collective then.
tensors::TorchValue optimizer_state_dict(torch::optim::Optimizer& optimizer, bool fused,
                                         const sharding::OptimizerSharding* sharding = nullptr);

/// Checks that `state` fits the optimizer and returns a function that loads it; nothing changes until it is called.
/// Fills existing tensors in place, so that loading needs no extra memory. Sharded parameters are stored as `sharding`
/// keeps them, which may be collective. Throws Error that names the mismatch: the groups, the parameters, an option
/// that libtorch lacks, or the state of another class of optimizer.
[[nodiscard]] std::function<void()> checked_optimizer_state(torch::optim::Optimizer& optimizer,
                                                            const tensors::StoredValue& state,
                                                            sharding::OptimizerSharding* sharding = nullptr);

}  // namespace accelerate::train
