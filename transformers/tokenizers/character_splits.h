#pragma once

// The pre-tokenizers that look at one character at a time.

#include <cstddef>
#include <cstdint>

#include "transformers/tokenizers/pieces.h"
#include "transformers/tokenizers/split_behavior.h"

namespace transformers::tokenizers {

/// BERT's words: white space is left out, each punctuation mark stands alone.
void split_bert_words(Pieces& pieces);

/// Words, and what stands between words and white space: `\w+|[^\w\s]+`.
void split_words(Pieces& pieces);

/// Splits at characters that have one of `properties` (unicode.h).
void split_at(Pieces& pieces, uint16_t properties, SplitBehavior behavior);

/// Splits at `delimiter`, which is left out.
void split_at_delimiter(Pieces& pieces, char32_t delimiter);

/// Splits where the script of writing changes.
void split_scripts(Pieces& pieces);

/// Splits into pieces of `length` characters; the last may be shorter.
void split_length(Pieces& pieces, size_t length);

}  // namespace transformers::tokenizers
