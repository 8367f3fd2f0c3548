#pragma once

// Making encodings equally long.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transformers/tokenizers/encoding.h"

namespace transformers::tokenizers {

struct PaddingOptions {
  std::optional<size_t> length = {};  // of all encodings; without it, that of the longest one of a batch
  size_t pad_to_multiple_of = 0;      // 0: any length
  uint32_t pad_id = 0;
  uint32_t pad_type_id = 0;
  std::string pad_token = "[PAD]";
  Direction direction = Direction::Right;
};

/// Fills all encodings up to one length.
void pad(std::vector<Encoding>& encodings, const PaddingOptions& options);

}  // namespace transformers::tokenizers

namespace transformers {
using tokenizers::PaddingOptions;
}
