#pragma once

// Converts bytes to base64 (RFC 4648) and back. The standard library has no such function, and base has no
// dependencies.

#include <optional>
#include <string>
#include <string_view>

namespace accelerate {

/// The base64 form of `bytes`, padded, in one line.
std::string encode_base64(std::string_view bytes);

/// The bytes that `text` stands for, or nothing if it is not base64 with its padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace accelerate
