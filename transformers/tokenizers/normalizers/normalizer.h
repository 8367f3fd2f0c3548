#pragma once

// Normalizers: the first step of tokenisation, such as lower case and Unicode normalization.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/text/normalized_text.h"

namespace transformers::tokenizers {

/// Changes a text. Const calls are safe from several threads.
class Normalizer {
 public:
  virtual ~Normalizer() = default;

  /// Changes `text` in place.
  virtual void normalize(NormalizedText& text) const = 0;
};

/// Reads the "normalizer" of a tokenizer.json. Throws Error for an unknown type; the message lists the known ones.
std::unique_ptr<Normalizer> read_normalizer(const nlohmann::json& description);

/// Reads a normalizer of type "Precompiled". Throws Error if its table is invalid.
std::unique_ptr<Normalizer> read_precompiled(const nlohmann::json& description);

}  // namespace transformers::tokenizers
