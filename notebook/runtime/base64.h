#pragma once

// Bytes as the letters that a notebook carries them in.

#include <string>
#include <string_view>

namespace accelerate::notebook {

/// The base64 form of `bytes`, in one line.
inline std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto group = bytes.substr(i, 3);
    unsigned bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    for (size_t k = 0; k < 4; ++k) text += k <= group.size() ? kLetters[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

}  // namespace accelerate::notebook
