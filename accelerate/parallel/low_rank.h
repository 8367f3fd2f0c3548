#pragma once

// The average of matrices over ranks, approximated by products of two narrow matrices. Private to this room.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::parallel {

/// A matrix, or a batch of them, and the two narrow ones whose product P Q^T stands for it.
struct LowRank {
  at::Tensor matrix;  // [..., rows, columns]
  at::Tensor p;       // [..., rows, rank]
  at::Tensor q;       // [..., columns, rank]
};

/// Overwrites each matrix with an approximation of its average over the ranks: one step of subspace iteration from its
/// `q`, which all ranks start with. `all_p` and `all_q` are the memory of the narrow ones, and all that travels;
/// `epsilon` is added to norms of columns. Collective.
void average_(const std::vector<LowRank>& factors, at::Tensor& all_p, at::Tensor& all_q, const comm::Group& group,
              double epsilon);

}  // namespace accelerate::parallel
