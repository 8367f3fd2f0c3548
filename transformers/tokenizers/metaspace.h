#pragma once

// SentencePiece's way with spaces: each becomes a visible character that begins the next word.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/pre_tokenizer.h"

namespace transformers::tokenizers {

/// Reads a pre-tokenizer of type "Metaspace".
std::unique_ptr<PreTokenizer> read_metaspace(const nlohmann::json& description);

}  // namespace transformers::tokenizers
