#pragma once

// Decoders of tokens that stand for bytes: ByteLevel and ByteFallback.

#include <memory>

#include "transformers/tokenizers/decoder.h"

namespace transformers::tokenizers {

/// Reads back the alphabet of byte_level.h and joins all tokens, since a character may be spread over several. What is
/// not UTF-8 becomes U+FFFD.
std::unique_ptr<Decoder> make_byte_level_decoder();

/// Turns each run of tokens like "<0xE2>" into its text, or into one U+FFFD for each when that is not UTF-8.
std::unique_ptr<Decoder> make_byte_fallback_decoder();

}  // namespace transformers::tokenizers
