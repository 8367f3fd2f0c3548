#pragma once

// The normalizer of SentencePiece models: a table of replacements, compiled into a trie.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/normalizer.h"

namespace transformers::tokenizers {

/// Reads a normalizer of type "Precompiled". Throws Error when its table is not one.
std::unique_ptr<Normalizer> read_precompiled(const nlohmann::json& description);

}  // namespace transformers::tokenizers
