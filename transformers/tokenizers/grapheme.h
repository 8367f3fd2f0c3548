#pragma once

// What a reader takes for one character: the extended grapheme clusters of Unicode's annex 29.

#include <cstddef>
#include <string_view>

namespace transformers::tokenizers {

/// Bytes of the grapheme cluster that `text`, which is not empty and valid UTF-8, begins with.
size_t grapheme_bytes(std::string_view text);

}  // namespace transformers::tokenizers
