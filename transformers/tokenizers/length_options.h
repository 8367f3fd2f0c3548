#pragma once

// Truncates encodings to a maximum length, and pads them to a common length.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transformers/tokenizers/encoding.h"

namespace transformers::tokenizers {

enum class TruncationStrategy { LongestFirst, OnlyFirst, OnlySecond };

struct TruncationOptions {
  size_t max_length = 512;  // of the result, with special tokens
  size_t stride = 0;        // tokens that a window of Encoding::overflowing shares with the previous one
  TruncationStrategy strategy = TruncationStrategy::LongestFirst;  // which text of a pair is cut
  Direction direction = Direction::Right;                          // at which end
};

/// Truncates one encoding, or the two of a pair, to a total of `max_length` tokens. Throws Error if the strategy cannot
/// reach that.
void truncate(std::vector<Encoding>& encodings, const TruncationOptions& options);

struct PaddingOptions {
  std::optional<size_t> length = {};  // nullopt: that of the longest encoding of the batch
  size_t pad_to_multiple_of = 0;      // 0: any length
  uint32_t pad_id = 0;
  uint32_t pad_type_id = 0;
  std::string pad_token = "[PAD]";
  Direction direction = Direction::Right;
};

/// Pads all encodings to one length.
void pad(std::vector<Encoding>& encodings, const PaddingOptions& options);

}  // namespace transformers::tokenizers

namespace transformers {
using tokenizers::PaddingOptions;
using tokenizers::TruncationOptions;
using tokenizers::TruncationStrategy;
}  // namespace transformers
