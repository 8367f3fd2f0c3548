#include "accelerate/parallel/low_rank.h"

#include <ATen/ATen.h>

namespace accelerate::parallel {

namespace {

/// Modified Gram-Schmidt on the columns of matrices [batch, rows, columns].
void gram_schmidt_(const at::Tensor& matrices, double epsilon) {
  for (int64_t i = 0; i < matrices.size(2); ++i) {
    auto column = matrices.narrow(2, i, 1);
    auto norm = at::linalg_vector_norm(column, 2, {1}, /*keepdim=*/true);
    column.div_(epsilon == 0 ? norm : norm.add(epsilon));
    if (i + 1 == matrices.size(2)) break;
    auto rest = matrices.narrow(2, i + 1, matrices.size(2) - i - 1);
    rest.sub_(at::sum(column * rest, {1}, /*keepdim=*/true) * column);
  }
}

/// Makes the columns of [..., rows, columns] orthonormal, as torch's hook does: QR is faster from three columns on, but
/// does not support half precision.
void orthogonalize_(const at::Tensor& narrow, double epsilon) {
  auto matrices = narrow.dim() == 2 ? narrow.unsqueeze(0) : narrow;
  const auto type = matrices.scalar_type();
  if (matrices.size(2) <= 2 || type == at::kHalf || type == at::kBFloat16) {
    gram_schmidt_(matrices, epsilon);
  } else {
    auto r = at::empty({matrices.size(0), matrices.size(2), matrices.size(2)}, matrices.options());
    at::linalg_qr_out(matrices, r, matrices);
  }
}

/// Multiplies matrices or batches of matrices.
void multiply_(const at::Tensor& product, const at::Tensor& left, const at::Tensor& right) {
  auto out = product;
  if (out.dim() == 2) {
    at::mm_out(out, left, right);
  } else {
    at::bmm_out(out, left, right);
  }
}

}  // namespace

void average_(const std::vector<LowRank>& factors, at::Tensor& all_p, at::Tensor& all_q, const comm::Group& group,
              double epsilon) {
  if (factors.empty()) return;
  for (const auto& [matrix, p, q] : factors) {
    orthogonalize_(q, epsilon);
    multiply_(p, matrix, q);
  }
  group.all_reduce(all_p);
  for (const auto& [matrix, p, q] : factors) {
    orthogonalize_(p, epsilon);
    multiply_(q, matrix.transpose(-2, -1), p);
  }
  group.all_reduce(all_q);
  all_q.div_(group.size());
  for (const auto& [matrix, p, q] : factors) multiply_(matrix, p, q.transpose(-2, -1));
}

}  // namespace accelerate::parallel
