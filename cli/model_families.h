#pragma once

// The tensors of known families of models, computed from their configuration.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/model_tensors.h"

namespace accelerate::cli {

/// The model that Transformers' AutoModel makes of a config.json. Throws Error naming `source` and listing the families
/// for another model_type, and naming the key for a value that is missing or no number.
ModelDescription describe_family(const nlohmann::json& config, const std::string& source);

/// What stays together on a device in models of this configuration; nothing is said of an unknown model_type.
ModelBlocks blocks_of_family(const nlohmann::json& config, const std::string& source);

}  // namespace accelerate::cli
