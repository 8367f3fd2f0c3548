#pragma once

// Bytes that come in pieces, as text that can be shown.

#include <string>
#include <string_view>

#include "accelerate/base/utf8.h"

namespace accelerate::notebook {

/// Keeps back the beginning of a character whose other bytes are still to come.
class TextStream {
 public:
  /// What can be shown after `bytes` have come too.
  std::string add(std::string_view bytes) {
    pending_ += bytes;
    auto text = pending_.substr(0, pending_.size() - unfinished_bytes());
    pending_.erase(0, text.size());
    return text;
  }

 private:
  /// The bytes at the end that begin a character of UTF-8 without completing it.
  size_t unfinished_bytes() const {
    for (size_t count = 1; count <= 3 && count <= pending_.size(); ++count) {
      char byte = pending_[pending_.size() - count];
      if (!is_utf8_continuation(byte)) return character_bytes(byte) > count ? count : 0;
    }
    return 0;
  }

  std::string pending_;
};

/// The byte at which character number `character` of a UTF-8 text begins, and the other way round.
inline size_t byte_of_character(std::string_view text, size_t character) {
  size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if (!is_utf8_continuation(text[byte]) && character-- == 0) break;
  }
  return byte;
}
inline size_t character_of_byte(std::string_view text, size_t byte) { return count_characters(text.substr(0, byte)); }

}  // namespace accelerate::notebook
