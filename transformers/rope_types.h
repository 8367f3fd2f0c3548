#pragma once

// How fast each pair of features turns with the position. Checkpoints differ in it by their rope_type: what was trained
// on short texts reads longer ones when it turns more slowly.

#include <cstdint>
#include <functional>
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

}  // namespace transformers
