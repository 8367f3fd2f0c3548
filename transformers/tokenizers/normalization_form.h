#pragma once

// The Unicode normalization forms, with the origin of each character.

#include "transformers/tokenizers/normalized_text.h"

namespace transformers::tokenizers {

enum class NormalizationForm { Nfc, Nfd, Nfkc, Nfkd };

/// Brings `text` into a normalization form.
void normalize_form(NormalizedText& text, NormalizationForm form);

/// Appends the canonical decomposition of `character`, which is itself when it has none.
void append_canonical(char32_t character, std::u32string& text);

}  // namespace transformers::tokenizers
