#include "transformers/positions.h"

#include <cmath>

#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/log.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

namespace transformers {

namespace {

at::Tensor counted(int64_t length, at::Device device) {
  return at::arange(length, at::TensorOptions(at::kLong).device(device));
}

}  // namespace

at::Tensor positions_of(const ModelInputs& inputs) {
  if (inputs.position_ids.defined()) return inputs.position_ids;
  return counted(inputs.input_ids.size(1), inputs.input_ids.device()).unsqueeze(0);
}

at::Tensor positions_after_padding(const ModelInputs& inputs, int64_t padding) {
  if (inputs.position_ids.defined()) return inputs.position_ids;
  auto tokens = inputs.input_ids.ne(padding).to(at::kLong);
  return at::cumsum(tokens, 1) * tokens + padding;
}

at::Tensor distance_buckets(int64_t length, at::Device device) {
  constexpr int64_t kBuckets = 16, kNear = 8, kFarthest = 128;  // of one side
  auto position = counted(length, device);
  auto ahead = position.unsqueeze(0) - position.unsqueeze(1);
  auto distance = at::abs(ahead);
  auto far =
      (at::log(distance.to(at::kFloat) / kNear) / std::log(static_cast<double>(kFarthest) / kNear) * (kBuckets - kNear))
          .to(at::kLong);
  auto bucket = at::where(distance < kNear, distance, (far + kNear).clamp_max(kBuckets - 1));
  return bucket + (ahead > 0).to(at::kLong) * kBuckets;
}

at::Tensor relative_positions(int64_t length, int64_t buckets, int64_t max_distance, at::Device device) {
  auto position = counted(length, device);
  auto behind = position.unsqueeze(1) - position.unsqueeze(0);
  if (buckets <= 0) return behind;
  auto exact = buckets / 2;
  auto distance = at::abs(behind).clamp_min(exact - 1);
  // In float32 as in Python: rounding determines the bucket of a distance at a boundary.
  auto whole =
      at::log(at::scalar_tensor(static_cast<double>(max_distance - 1) / static_cast<double>(exact), at::kFloat));
  auto far = (at::log(distance / exact) / whole.to(device) * (exact - 1)).ceil() + exact;
  return at::where(distance <= exact, behind, (far * behind.sign()).to(at::kLong));
}

}  // namespace transformers
