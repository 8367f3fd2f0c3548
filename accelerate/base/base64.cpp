#include "accelerate/base/base64.h"

#include <cstdint>

namespace accelerate {

namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto group = bytes.substr(i, 3);
    unsigned bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    for (size_t k = 0; k < 4; ++k) text += k <= group.size() ? kBase64Digits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  text.remove_suffix(padding);
  std::string bytes;
  uint32_t bits = 0;
  int num_bits = 0;
  for (char digit : text) {
    size_t value = kBase64Digits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes.push_back(static_cast<char>(bits >> num_bits & 0xFF));
  }
  return bytes;
}

}  // namespace accelerate
