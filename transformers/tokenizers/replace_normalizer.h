#pragma once

// Replaces what a pattern matches.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/normalizer.h"

namespace transformers::tokenizers {

/// Reads a normalizer of type "Replace".
std::unique_ptr<Normalizer> read_replace(const nlohmann::json& description);

}  // namespace transformers::tokenizers
