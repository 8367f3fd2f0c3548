#pragma once

// Pads rows of different lengths to one length and stacks them to a batch.

#include <cstdint>
#include <optional>
#include <vector>

#include "accelerate/tensors/batch.h"
#include "transformers/tokenizers/encoding.h"

namespace transformers::inputs {

/// The length that rows are padded to: no padding, the longest row of the batch, or `max_length`.
enum class Padding { No, Longest, MaxLength };

struct PadOptions {
  Padding padding = Padding::Longest;
  std::optional<int64_t> max_length = std::nullopt;  // for Padding::MaxLength
  int64_t pad_to_multiple_of = 0;                    // rounds the length up to a multiple; 0: no rounding
};

/// The padding token of a tokenizer, and the side on which it is added.
struct PadToken {
  int64_t id = 0;
  int64_t type_id = 0;
  tokenizers::Direction side = tokenizers::Direction::Right;
};

/// Makes a batch of `rows`: at least one, all with the same names. One-dimensional tensors named input_ids,
/// token_type_ids, attention_mask and special_tokens_mask are padded; others are only stacked. A missing attention_mask
/// is added. Throws Error if lengths differ and padding is off.
accelerate::Batch pad(const std::vector<accelerate::Batch>& rows, const PadToken& pad_token, const PadOptions& options);

}  // namespace transformers::inputs

namespace transformers {
using inputs::Padding;
using inputs::PadOptions;
}  // namespace transformers
