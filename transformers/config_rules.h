#pragma once

// The numbers and names that single keys of a config.json can have: one table for all models.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace transformers {

/// What `value` should be instead, such as "at least 1". Empty if `key` can have this value, or if there is no rule for
/// the key. Of a dotted key the last part counts.
std::string refusal(std::string_view key, const nlohmann::json& value);

}  // namespace transformers
