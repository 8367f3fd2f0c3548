#pragma once

// The second step on the way in: a text is cut into pieces, which the model then takes one by one.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/text/pieces.h"

namespace transformers::tokenizers {

/// Cuts the pieces of a text into smaller ones, and may change their text. Const calls are safe from several threads.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  /// Cuts every piece that is not a token yet.
  virtual void pre_tokenize(Pieces& pieces) const = 0;
};

/// Reads the "pre_tokenizer" of a tokenizer.json. Throws Error for a type that is not known, listing those that are.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const nlohmann::json& description);

/// Reads a pre-tokenizer of type "Metaspace".
std::unique_ptr<PreTokenizer> read_metaspace(const nlohmann::json& description);

}  // namespace transformers::tokenizers
