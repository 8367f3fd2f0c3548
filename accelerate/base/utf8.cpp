#include "accelerate/base/utf8.h"

#include <algorithm>
#include <cstring>

namespace accelerate {

namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;

/// Length of the ASCII text at the start, in whole words of 8 bytes.
size_t ascii_words(std::string_view text) {
  size_t position = 0;
  for (uint64_t word = 0; position + sizeof(word) <= text.size(); position += sizeof(word)) {
    std::memcpy(&word, text.data() + position, sizeof(word));
    if (word & kHighBits) break;
  }
  return position;
}

}  // namespace

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_utf8_continuation(byte); }));
}

bool is_ascii(std::string_view text) {
  size_t checked = ascii_words(text);
  return std::all_of(text.begin() + checked, text.end(), [](char byte) { return is_ascii(byte); });
}

std::optional<size_t> find_broken_utf8(std::string_view text) {
  for (size_t position = 0; position < text.size();) {
    position += ascii_words(text.substr(position));
    if (position == text.size()) break;
    size_t bytes = utf8_character_bytes(text.substr(position));
    if (bytes == 0) return position;
    position += bytes;
  }
  return std::nullopt;
}

}  // namespace accelerate
