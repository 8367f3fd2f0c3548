#pragma once

// Tensors of which every rank makes a part.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// Elements of one of several tensors.
struct Part {
  size_t tensor = 0;
  int64_t begin = 0;
  int64_t length = 0;
};

/// The parts that each rank makes, by rank. The same on all ranks.
using Shares = std::vector<std::vector<Part>>;

/// Calls `make` for each round, which makes this rank's parts of `tensors` and returns everyone's, and overwrites the
/// parts of the other ranks with what they have made. The tensors are contiguous, of one dimension, and as long on all
/// ranks. Collective. On one machine `make` is called when all ranks have come, maybe by several threads at once, and a
/// rank writes its parts straight into the tensors of the others where the system lets it, while they are still in the
/// cache; nobody may use the tensors meanwhile. `what` appears in the error when a rank does not come.
void exchange_shares(const Group& group, const std::vector<at::Tensor>& tensors, size_t num_rounds,
                     const std::function<Shares(size_t round)>& make,
                     const std::string& what = "the exchange of shares");

}  // namespace accelerate::comm
