#pragma once

// Positions as rotations (Su et al., 2021): pairs of features turn by an angle that grows with the position, so that
// the product of a query and a key depends on their distance alone.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "transformers/pretrained_config.h"

namespace transformers {

/// Where a configuration speaks of rotations.
struct RopeSource {
  std::vector<std::string> sections;  // the first of them that has a key decides
  double theta = 10000;               // when none has "rope_theta"
  int64_t max_length = 2048;          // of the texts that the model was made for
};

/// The rotations of one model.
struct Rope {
  at::Tensor frequencies = {};                                     // [head size / 2], always in float
  double scale = 1;                                                // of cosines and sines
  std::function<at::Tensor(int64_t length)> for_length = nullptr;  // the frequencies, where they depend on the text
};

/// Reads a configuration: rope_type is default, linear, dynamic, yarn, longrope or llama3, with Transformers' formulas.
/// Throws Error for any other, and for a key that the type needs and that is missing.
Rope make_rope(const PretrainedConfig& config, const RopeSource& source, int64_t head_size);

/// The rotation of each position, to be broadcast over the heads.
struct Rotation {
  at::Tensor cos, sin;  // [batch or 1, 1, length, head size]
};

/// x [batch, heads, length, head size], turned. `precision` is the type to compute in, that of x unless given.
at::Tensor rotate(const at::Tensor& x, const Rotation& rotation,
                  std::optional<at::ScalarType> precision = std::nullopt);

/// The angles by which a model turns its queries and keys.
class RotaryEmbedding {
 public:
  /// Reads `rope_parameters` of a configuration, or rope_theta and rope_scaling of older ones. The model was made for
  /// texts of `max_length`. Throws Error as make_rope does.
  RotaryEmbedding(const PretrainedConfig& config, int64_t head_size, int64_t max_length);

  /// The same for a configuration that has several rotations, of which `source` says where one is.
  RotaryEmbedding(const PretrainedConfig& config, int64_t head_size, const RopeSource& source);

  /// The rotations of `position_ids` [batch or 1, length], in the type of `x` and on its device.
  Rotation rotation(const at::Tensor& position_ids, const at::Tensor& x) const;

 private:
  Rope rope_;
};

}  // namespace transformers
