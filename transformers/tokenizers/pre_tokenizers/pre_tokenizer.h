#pragma once

// Pre-tokenizers: the second step of tokenisation. They split a text into pieces, which the model tokenises one by one.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/text/pieces.h"

namespace transformers::tokenizers {

/// Splits the pieces of a text further, and may change their text. Const calls are thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  /// Splits every piece that is not an added token.
  virtual void pre_tokenize(Pieces& pieces) const = 0;
};

/// Reads the "pre_tokenizer" of a tokenizer.json. Throws Error for an unknown type; the message lists the known ones.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const nlohmann::json& description);

/// Reads a pre-tokenizer of type "Metaspace".
std::unique_ptr<PreTokenizer> read_metaspace(const nlohmann::json& description);

}  // namespace transformers::tokenizers
