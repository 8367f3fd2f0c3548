#pragma once

// Handles text that may not be valid UTF-8, such as file names and exception messages.

#include <cstddef>
#include <string>
#include <string_view>

namespace accelerate {

/// Whether the byte is a continuation byte of a UTF-8 character.
inline bool is_utf8_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The longest prefix of `text` with at most `bytes` bytes that does not split a character.
inline std::string_view first_utf8_bytes(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && is_utf8_continuation(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

/// The number of bytes of the character at the start of `text`, or 0 if it is invalid: truncated, overlong, a surrogate
/// or too large. Async-signal-safe.
inline size_t utf8_character_bytes(std::string_view text) {
  auto byte = [&](size_t index) { return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u; };
  unsigned first = byte(0), second = byte(1);
  if (text.empty() || (first >= 0x80 && first < 0xC2) || first > 0xF4) return 0;
  size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  bool surrogate = first == 0xED && second >= 0xA0;
  bool too_large = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : bytes;
}

/// The text with each invalid byte replaced by U+FFFD.
inline std::string replace_broken_utf8(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    auto bytes = utf8_character_bytes(text);
    whole += bytes > 0 ? text.substr(0, bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return whole;
}

}  // namespace accelerate
