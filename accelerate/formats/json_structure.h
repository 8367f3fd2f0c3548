#pragma once

// JSON from files that others made, before it is parsed.

#include <string>
#include <string_view>

namespace accelerate::formats {

/// Throws Error naming `source` for what parsers take in their own ways: a key twice in one object, of which some take
/// the first and some the last; deep nesting; a byte order mark; zero bytes. What is no JSON at all is left to the
/// parser.
void check_json_structure(std::string_view text, const std::string& source);

/// Throws Error naming `source` for nesting deeper than any configuration has: what walks over the values calls itself
/// for each level, and would run out of stack. Anything else is left to the parser.
void check_json_depth(std::string_view text, const std::string& source);

}  // namespace accelerate::formats
