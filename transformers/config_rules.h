#pragma once

// The allowed values of single keys of a config.json, in one table for all models.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace transformers {

/// What the value of `key` must be, such as "at least 1". Empty if `value` is allowed, or if there is no rule for
/// `key`. The rule of a dotted key is that of its last part.
std::string refusal(std::string_view key, const nlohmann::json& value);

}  // namespace transformers
