#pragma once

// Validates untrusted JSON before it is parsed.

#include <string>
#include <string_view>

namespace accelerate::formats {

/// Throws Error naming `source` if parsers may disagree about the text: duplicate keys in one object, deep nesting, a
/// byte order mark, or zero bytes. Syntax errors are left to the parser.
void check_json_structure(std::string_view text, const std::string& source);

/// Throws Error naming `source` if the nesting is deeper than in any configuration: recursive functions over the values
/// would overflow the stack. Everything else is left to the parser.
void check_json_depth(std::string_view text, const std::string& source);

}  // namespace accelerate::formats
