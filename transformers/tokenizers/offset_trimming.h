#pragma once

// Takes the white space at the ends of byte-level tokens out of their offsets.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "transformers/tokenizers/encoding.h"

namespace transformers::tokenizers {

struct OffsetTrimming {
  bool trim_offsets = true;
  bool add_prefix_space = true;  // the one space before the first token was not part of the text

  /// Trims the tokens of `encodings` and of their overflowing windows by what Encoding::spaces says.
  void apply(std::vector<Encoding>& encodings) const;
};

/// Reads "trim_offsets" and "add_prefix_space".
OffsetTrimming read_offset_trimming(const nlohmann::json& description);

}  // namespace transformers::tokenizers
