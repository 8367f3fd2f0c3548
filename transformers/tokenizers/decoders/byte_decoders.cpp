#include "transformers/tokenizers/decoders/decoder.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/text/byte_level.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::find_broken_utf8;
using accelerate::first_character;
using accelerate::is_utf8_continuation;

namespace {

/// Appends the bytes of `token`, or the token itself if one of its characters is not in the byte-level alphabet.
void append_token_bytes(std::string_view token, std::string& bytes) {
  size_t before = bytes.size();
  for (size_t position = 0; position < token.size(); position += character_bytes(token[position])) {
    char32_t character = first_character(token.substr(position));
    int16_t byte = character < kByteCharacterLimit ? kCharacterBytes[character] : int16_t{-1};
    if (byte < 0) {
      bytes.resize(before);
      bytes.append(token);
      return;
    }
    bytes.push_back(static_cast<char>(byte));
  }
}

constexpr std::string_view kReplacement = "\uFFFD";

/// The number of bytes of the invalid sequence at the start of `text`: the longest prefix of a valid character, and at
/// least one byte.
size_t broken_bytes(std::string_view text) {
  auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
  unsigned char first = byte(0);
  size_t length = first >= 0xF0 && first <= 0xF4 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : 1;
  if (length == 1 || text.size() < 2) return 1;
  unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 1;
  return length == 4 && text.size() > 2 && is_utf8_continuation(text[2]) ? 3 : 2;
}

/// `bytes` with each error replaced by U+FFFD.
std::string to_valid_utf8(std::string_view bytes) {
  std::string text;
  while (auto broken = find_broken_utf8(bytes)) {
    text.append(bytes.substr(0, *broken)).append(kReplacement);
    bytes.remove_prefix(*broken);
    bytes.remove_prefix(broken_bytes(bytes));
  }
  return text.append(bytes);
}

class ByteLevelDecoder : public Decoder {
 public:
  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    std::string bytes;
    for (const auto& token : tokens) append_token_bytes(token, bytes);
    return {to_valid_utf8(bytes)};
  }
};

/// The byte of a token like "<0xE2>".
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  std::string_view digits = token.substr(3, 2);
  if (digits[0] == '+') digits.remove_prefix(1);  // "<0x+A>" counts as a byte for the reference implementation too
  unsigned value = 0;
  auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 16);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  return static_cast<char>(value);
}

class ByteFallbackDecoder : public Decoder {
 public:
  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    std::vector<std::string> parts;
    std::string run;
    auto end_run = [&] {
      if (run.empty()) return;
      if (find_broken_utf8(run)) {
        parts.insert(parts.end(), run.size(), std::string(kReplacement));
      } else {
        parts.push_back(run);
      }
      run.clear();
    };
    for (auto& token : tokens) {
      if (auto byte = byte_of(token)) {
        run.push_back(*byte);
        continue;
      }
      end_run();
      parts.push_back(std::move(token));
    }
    end_run();
    return parts;
  }
};

}  // namespace

std::unique_ptr<Decoder> make_byte_level_decoder() { return std::make_unique<ByteLevelDecoder>(); }

std::unique_ptr<Decoder> make_byte_fallback_decoder() { return std::make_unique<ByteFallbackDecoder>(); }

}  // namespace transformers::tokenizers
