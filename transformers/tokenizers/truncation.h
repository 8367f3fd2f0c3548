#pragma once

// Cutting texts to the length that a model can take.

#include <cstddef>
#include <vector>

#include "transformers/tokenizers/encoding.h"

namespace transformers::tokenizers {

enum class TruncationStrategy { LongestFirst, OnlyFirst, OnlySecond };

struct TruncationOptions {
  size_t max_length = 512;  // of the result, with special tokens
  size_t stride = 0;        // how many tokens a window of Encoding::overflowing shares with the one before
  TruncationStrategy strategy = TruncationStrategy::LongestFirst;  // which text of a pair is cut
  Direction direction = Direction::Right;                          // at which end
};

/// Cuts one encoding, or the two of a pair, to `max_length` tokens together. Throws Error when the strategy cannot do
/// it.
void truncate(std::vector<Encoding>& encodings, const TruncationOptions& options);

}  // namespace transformers::tokenizers

namespace transformers {
using tokenizers::TruncationOptions;
using tokenizers::TruncationStrategy;
}  // namespace transformers
