#pragma once

// The alphabet of byte-level models: each byte is represented by a visible character, so that any text can be
// tokenised.

#include <array>
#include <cstddef>
#include <cstdint>

namespace transformers::tokenizers {

/// The character of each byte: itself if it is visible in Latin-1, else the next one from U+0100 on.
inline constexpr std::array<char32_t, 256> kByteCharacters = [] {
  std::array<char32_t, 256> characters{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    bool visible = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    characters[byte] = visible ? byte : next++;
  }
  return characters;
}();

/// One more than the largest character of the alphabet.
inline constexpr size_t kByteCharacterLimit = 0x144;

/// The byte of each character below kByteCharacterLimit, or -1.
inline constexpr std::array<int16_t, kByteCharacterLimit> kCharacterBytes = [] {
  std::array<int16_t, kByteCharacterLimit> bytes{};
  bytes.fill(-1);
  for (size_t byte = 0; byte < 256; ++byte) bytes[kByteCharacters[byte]] = static_cast<int16_t>(byte);
  return bytes;
}();

}  // namespace transformers::tokenizers
