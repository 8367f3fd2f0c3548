#pragma once

// The first step on the way in: texts that mean the same become the same.

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

/// Reads the "normalizer" of a tokenizer.json. Throws Error for a type that is not known, listing those that are.
std::unique_ptr<Normalizer> read_normalizer(const nlohmann::json& description);

/// Reads a normalizer of type "Precompiled". Throws Error when its table is not one.
std::unique_ptr<Normalizer> read_precompiled(const nlohmann::json& description);

}  // namespace transformers::tokenizers
