#pragma once

// Low-rank approximation of the average of matrices over ranks. Private to this room.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::parallel {

/// A matrix, or a batch of matrices, and its low-rank factors: the matrix is approximately P Q^T.
struct LowRank {
  at::Tensor matrix;  // [..., rows, columns]
  at::Tensor p;       // [..., rows, rank]
  at::Tensor q;       // [..., columns, rank]
};

/// Overwrites each matrix with a low-rank approximation of its average over the ranks: one step of subspace iteration
/// from `q`, which has to be the same on all ranks. `all_p` and `all_q` are the flat buffers of all factors, and the
/// only data that is sent. `epsilon` is added to the norms of columns. Collective.
void average_(const std::vector<LowRank>& factors, at::Tensor& all_p, at::Tensor& all_q, const comm::Group& group,
              double epsilon);

}  // namespace accelerate::parallel
