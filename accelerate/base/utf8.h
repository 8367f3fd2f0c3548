#pragma once

// Reads and writes UTF-8 text: first the functions for text that may be invalid, such as file names and exception
// messages, then those for text that is known to be valid.

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// The position of the first invalid byte, if there is one.
std::optional<size_t> find_broken_utf8(std::string_view text);

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

/// Whether `byte` is a character by itself. Whether char is signed depends on the machine.
inline bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

/// The number of bytes of the character that begins with `first`.
inline size_t character_bytes(char first) {
  auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The character that begins at `text[0]`.
inline char32_t first_character(std::string_view text) {
  auto byte = [&](size_t index) { return static_cast<char32_t>(static_cast<unsigned char>(text[index])); };
  char32_t first = byte(0);
  if (first < 0x80) return first;
  if (first < 0xE0) return (first & 0x1F) << 6 | (byte(1) & 0x3F);
  if (first < 0xF0) return (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  return (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
}

/// The character that ends with the last byte of `text`.
inline char32_t last_character(std::string_view text) {
  size_t first = text.size() - 1;
  while (is_utf8_continuation(text[first])) --first;
  return first_character(text.substr(first));
}

/// Appends `character`.
inline void append_character(std::string& text, char32_t character) {
  auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xC0 | character >> 6);
  } else {
    if (character < 0x10000) {
      put(0xE0 | character >> 12);
    } else {
      put(0xF0 | character >> 18);
      put(0x80 | (character >> 12 & 0x3F));
    }
    put(0x80 | (character >> 6 & 0x3F));
  }
  put(0x80 | (character & 0x3F));
}

/// The number of characters.
size_t count_characters(std::string_view text);

/// Whether all characters are ASCII.
bool is_ascii(std::string_view text);

}  // namespace accelerate
