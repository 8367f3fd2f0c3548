#pragma once

// The state of torch's optimizers in the form of Python's state_dict, which both sides can load.

#include <functional>

#include "accelerate/tensors/torch_file.h"

namespace torch::optim {
class Optimizer;
}

namespace accelerate::train {

class OptimizerSharding;

/// {"state": {index: {...}}, "param_groups": [{...}]} with Python's keys in Python's order. The tensors are those of
/// the optimizer, not copies. `fused` tells Python which kernel made them. Knows Adam, AdamW, SGD, RMSprop and Adagrad;
/// throws Error for others. With `sharding`, which may be null, all tensors are whole; those of which each rank keeps
/// its share are gathered, and it is collective then.
tensors::TorchValue optimizer_state_dict(torch::optim::Optimizer& optimizer, bool fused,
                                         const OptimizerSharding* sharding = nullptr);

/// Checks that `state` fits the optimizer, and returns what puts it there; until that is called nothing changes.
/// Tensors that the optimizer has are filled, so that loading takes no memory beside them; those that `sharding` names
/// are kept as it says, which may be collective. Throws Error telling what does not fit: the groups, the parameters, an
/// option that libtorch lacks, or the state of another kind of optimizer.
[[nodiscard]] std::function<void()> checked_optimizer_state(torch::optim::Optimizer& optimizer,
                                                            const tensors::StoredValue& state,
                                                            OptimizerSharding* sharding = nullptr);

}  // namespace accelerate::train
