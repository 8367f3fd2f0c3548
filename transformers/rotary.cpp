#include "transformers/rotary.h"

#include <numbers>

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>

#include "accelerate/base/error.h"

namespace transformers {

namespace {

at::Tensor plain_frequencies(double theta, int64_t head_size) {
  return at::pow(theta, at::arange(0, head_size, 2, at::kFloat) / head_size).reciprocal();
}

/// Slow rotations are made slower by `factor`, fast ones stay, and in between it is a mixture (Llama 3.1).
at::Tensor llama3_frequencies(const at::Tensor& plain, const PretrainedConfig& config, const std::string& section) {
  auto factor = config.require<double>(section + ".factor");
  auto low = config.require<double>(section + ".low_freq_factor");
  auto high = config.require<double>(section + ".high_freq_factor");
  auto trained = config.get(
      "original_max_position_embeddings",
      config.get(section + ".original_max_position_embeddings", config.get("max_position_embeddings", 2048.0)));
  auto wavelength = plain.reciprocal() * (2 * std::numbers::pi);
  auto is_slow = wavelength > trained / low, is_fast = wavelength < trained / high;
  auto share = (wavelength.reciprocal() * trained - low) / (high - low);
  auto mixture = (1 - share) * plain / factor + share * plain;
  return at::where(is_slow, plain / factor, at::where(is_fast, plain, mixture));
}

at::Tensor frequencies_of(const PretrainedConfig& config, int64_t head_size) {
  auto type_in = [&](const std::string& section) {
    auto type = config.find<std::string>(section + ".rope_type");
    return type ? type : config.find<std::string>(section + ".type");
  };
  std::string section = type_in("rope_scaling") ? "rope_scaling" : "rope_parameters";
  auto type = type_in(section).value_or("default");
  auto plain = plain_frequencies(config.get(section + ".rope_theta", config.get("rope_theta", 10000.0)), head_size);
  if (type == "default") return plain;
  if (type == "linear") return plain / config.require<double>(section + ".factor");
  if (type == "llama3") return llama3_frequencies(plain, config, section);
  accelerate::fail("config.json: the rope_type '", type, "' is not known; there are default, linear and llama3");
}

}  // namespace

at::Tensor rotate(const at::Tensor& x, const Rotation& rotation, std::optional<at::ScalarType> precision) {
  auto type = precision.value_or(x.scalar_type());
  auto half = x.size(-1) / 2;
  // One statement each, and x converted for each: in which order gradients are added up, and in which type, is part of
  // their bits.
  auto along = x.to(type) * rotation.cos;
  auto wide = x.to(type);
  auto first = wide.narrow(-1, 0, half);
  auto second = wide.narrow(-1, half, half);
  auto across = at::cat({-second, first}, -1) * rotation.sin;
  return (along + across).to(x.scalar_type());
}

RotaryEmbedding::RotaryEmbedding(const PretrainedConfig& config, int64_t head_size)
    : frequencies_(frequencies_of(config, head_size)) {}

RotaryEmbedding::RotaryEmbedding(double theta, int64_t head_size) : frequencies_(plain_frequencies(theta, head_size)) {}

Rotation RotaryEmbedding::rotation(const at::Tensor& position_ids, const at::Tensor& x) const {
  auto angles = position_ids.unsqueeze(-1).to(at::kFloat) * frequencies_.to(x.device());
  angles = at::cat({angles, angles}, -1).unsqueeze(1);
  return {.cos = angles.cos().to(x.scalar_type()), .sin = angles.sin().to(x.scalar_type())};
}

}  // namespace transformers
