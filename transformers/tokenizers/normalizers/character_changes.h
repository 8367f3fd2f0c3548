#pragma once

// The building blocks of normalizers: changes of single characters, and the Unicode normalization forms.

#include <array>
#include <string_view>

#include "transformers/tokenizers/text/normalized_text.h"

namespace transformers::tokenizers {

/// Lower case.
void to_lower_case(NormalizedText& text);

/// Removes combining marks.
void strip_accents(NormalizedText& text);

/// Removes white space at the ends.
void strip(NormalizedText& text, bool left, bool right);

/// Prepends `prefix` unless the text is empty. Its origin is the first character.
void prepend(NormalizedText& text, std::string_view prefix);

/// Removes control characters and makes all kinds of white space equal, as SentencePiece does for translation.
void clean_for_translation(NormalizedText& text);

/// The character of each byte in the byte-level alphabet, in UTF-8.
const std::array<std::string_view, 256>& byte_texts();

/// Writes each byte as its character in the byte-level alphabet.
void to_byte_characters(NormalizedText& text);

enum class NormalizationForm { Nfc, Nfd, Nfkc, Nfkd };

/// Converts `text` to a normalization form.
void normalize_form(NormalizedText& text, NormalizationForm form);

/// Appends the canonical decomposition of `character`, or the character itself if it has none.
void append_canonical(char32_t character, std::u32string& text);

}  // namespace transformers::tokenizers
