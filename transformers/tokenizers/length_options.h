#pragma once

// How a tokenizer.json asks for truncation and padding.

#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/padding.h"
#include "transformers/tokenizers/truncation.h"

namespace transformers::tokenizers {

/// Reads the "truncation" of a tokenizer.json. Throws Error naming a field that is missing or wrong.
TruncationOptions read_truncation(const nlohmann::json& description);

/// Reads the "padding" of a tokenizer.json. Throws Error naming a field that is missing or wrong.
PaddingOptions read_padding(const nlohmann::json& description);

}  // namespace transformers::tokenizers
