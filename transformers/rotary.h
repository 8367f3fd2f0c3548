#pragma once

// Rotary position embeddings (RoPE; Su et al., 2021): pairs of features are rotated by an angle proportional to the
// position, so that the product of a query and a key depends only on their distance.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "transformers/pretrained_config.h"

namespace transformers {

/// Where the RoPE parameters are in a configuration, and their defaults.
struct RopeSource {
  std::vector<std::string> sections;  // keys are looked up in these, the first one first
  double theta = 10000;               // if no section has "rope_theta"
  int64_t max_length = 2048;          // maximum length of the model
};

/// The RoPE frequencies of one model.
struct Rope {
  at::Tensor frequencies = {};                                     // [head size / 2], always float32
  double scale = 1;                                                // of cosines and sines
  std::function<at::Tensor(int64_t length)> for_length = nullptr;  // set if frequencies depend on the length
};

/// Reads the RoPE parameters of a configuration. rope_type is default, linear, dynamic, yarn, longrope or llama3, with
/// the formulas of Transformers. Throws Error for another type, and if a key that the type needs is missing.
Rope make_rope(const PretrainedConfig& config, const RopeSource& source, int64_t head_size);

/// Cosine and sine of each position's angles, broadcast over the heads.
struct Rotation {
  at::Tensor cos, sin;  // [batch or 1, 1, length, head size]
};

/// Rotates x [batch, heads, length, head size]. `precision` is the dtype of the computation; nullopt: that of x.
at::Tensor rotate(const at::Tensor& x, const Rotation& rotation,
                  std::optional<at::ScalarType> precision = std::nullopt);

/// Computes the rotations of queries and keys.
class RotaryEmbedding {
 public:
  /// Reads `rope_parameters` of a configuration, or rope_theta and rope_scaling of an older one. `max_length` is the
  /// maximum length of the model. Throws Error as make_rope does.
  RotaryEmbedding(const PretrainedConfig& config, int64_t head_size, int64_t max_length);

  /// The same for a configuration with several sets of parameters: `source` selects one.
  RotaryEmbedding(const PretrainedConfig& config, int64_t head_size, const RopeSource& source);

  /// The rotations of `position_ids` [batch or 1, length], in the dtype of `x` and on its device.
  Rotation rotation(const at::Tensor& position_ids, const at::Tensor& x) const;

 private:
  Rope rope_;
};

}  // namespace transformers
