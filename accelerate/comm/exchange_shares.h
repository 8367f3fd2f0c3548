#pragma once

// Tensors of which every rank makes a part.

#include <cstddef>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// The parts that each rank makes, by rank: contiguous views of where they belong. As long on all ranks.
using Shares = std::vector<std::vector<at::Tensor>>;

/// Calls `make` for each round, which makes this rank's parts and returns everyone's, and overwrites the parts of the
/// other ranks with what they have made. Collective. Through shared memory the bytes are copied to where the others
/// reach them and from there to where they belong, and nowhere else.
void exchange_shares(const Group& group, size_t num_rounds, const std::function<Shares(size_t round)>& make);

}  // namespace accelerate::comm
