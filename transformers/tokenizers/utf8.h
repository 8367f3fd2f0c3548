#pragma once

// Reading and writing single characters of UTF-8 text that is known to be valid.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace transformers::tokenizers {

/// Whether `byte` is a character by itself. A char has a sign on some machines and none on others.
inline bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

/// Whether `byte` is not the first of its character.
inline bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Length of the character that begins with `first`.
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
  while (is_continuation(text[first])) --first;
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

/// Number of characters.
size_t count_characters(std::string_view text);

/// Whether all characters are ASCII.
bool is_ascii(std::string_view text);

/// Position of the first byte that is not part of a character, if there is one.
std::optional<size_t> find_broken_utf8(std::string_view text);

}  // namespace transformers::tokenizers
