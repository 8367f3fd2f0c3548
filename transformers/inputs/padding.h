#pragma once

// Rows of different lengths become one batch: the short ones are filled up.

#include <cstdint>
#include <optional>
#include <vector>

#include "accelerate/tensors/batch.h"
#include "transformers/tokenizers/encoding.h"

namespace transformers::inputs {

/// To which length rows are filled up: not at all, to that of the longest row, or to `max_length`.
enum class Padding { No, Longest, MaxLength };

struct PadOptions {
  Padding padding = Padding::Longest;
  std::optional<int64_t> max_length = std::nullopt;  // for Padding::MaxLength
  int64_t pad_to_multiple_of = 0;                    // lengths are rounded up to it; 0: they are not
};

/// What a tokenizer fills with, and on which side.
struct PadToken {
  int64_t id = 0;
  int64_t type_id = 0;
  tokenizers::Direction side = tokenizers::Direction::Right;
};

/// One batch of `rows`, of which there is at least one, all with the same names. One-dimensional tensors called
/// input_ids, token_type_ids, attention_mask and special_tokens_mask are filled up; others are stacked. A missing
/// attention_mask is made. Throws Error where lengths differ and nothing fills them up.
accelerate::Batch pad(const std::vector<accelerate::Batch>& rows, const PadToken& pad_token, const PadOptions& options);

}  // namespace transformers::inputs

namespace transformers {
using inputs::Padding;
using inputs::PadOptions;
}  // namespace transformers
