#pragma once

// Bytes from their text form in base64.

#include <optional>
#include <string>
#include <string_view>

namespace transformers::tokenizers {

/// The bytes that `text` stands for, or nothing when it is not base64 with its padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace transformers::tokenizers
