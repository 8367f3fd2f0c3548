#include "transformers/rotary.h"

#include <ATen/ops/cat.h>

namespace transformers {

namespace {

RopeSource source_of(const PretrainedConfig& config, int64_t max_length) {
  auto says_a_type = [&](const std::string& section) {
    return config.find<std::string>(section + ".rope_type") || config.find<std::string>(section + ".type");
  };
  return {.sections = {says_a_type("rope_scaling") ? "rope_scaling" : "rope_parameters"},
          .theta = config.get("rope_theta", 10000.0),
          .max_length = max_length};
}

}  // namespace

at::Tensor rotate(const at::Tensor& x, const Rotation& rotation, std::optional<at::ScalarType> precision) {
  auto type = precision.value_or(x.scalar_type());
  auto half = x.size(-1) / 2;
  // One statement each, and x is converted twice: this determines the order and the dtype in which gradients are
  // summed, and so their rounding.
  auto along = x.to(type) * rotation.cos;
  auto wide = x.to(type);
  auto first = wide.narrow(-1, 0, half);
  auto second = wide.narrow(-1, half, half);
  auto across = at::cat({-second, first}, -1) * rotation.sin;
  return (along + across).to(x.scalar_type());
}

RotaryEmbedding::RotaryEmbedding(const PretrainedConfig& config, int64_t head_size, int64_t max_length)
    : RotaryEmbedding(config, head_size, source_of(config, max_length)) {}

RotaryEmbedding::RotaryEmbedding(const PretrainedConfig& config, int64_t head_size, const RopeSource& source)
    : rope_(make_rope(config, source, head_size)) {}

Rotation RotaryEmbedding::rotation(const at::Tensor& position_ids, const at::Tensor& x) const {
  auto frequencies = rope_.for_length ? rope_.for_length(position_ids.max().item<int64_t>() + 1) : rope_.frequencies;
  auto angles = position_ids.unsqueeze(-1).to(at::kFloat) * frequencies.to(x.device());
  angles = at::cat({angles, angles}, -1).unsqueeze(1);
  return {.cos = (angles.cos() * rope_.scale).to(x.scalar_type()),
          .sin = (angles.sin() * rope_.scale).to(x.scalar_type())};
}

}  // namespace transformers
