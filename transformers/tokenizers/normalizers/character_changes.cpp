#include "transformers/tokenizers/normalizers/character_changes.h"

#include <algorithm>
#include <string>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/text/byte_level.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::append_character;
using accelerate::character_bytes;
using accelerate::first_character;
using accelerate::is_utf8_continuation;
using accelerate::last_character;

namespace {

/// Calls `change(character, bytes, rewrite)` for each character, which must read it.
template <class Body>
void for_each_character(NormalizedText& text, const Body& change) {
  Rewrite rewrite(text);
  while (!rewrite.done()) {
    std::string_view rest = rewrite.rest();
    change(first_character(rest), character_bytes(rest[0]), rewrite);
  }
  rewrite.finish();
}

/// The control characters that SentencePiece removes, of those that are not white space to it.
bool is_removed_for_translation(char32_t character) {
  return (character >= 0x01 && character <= 0x08) || character == 0x0B || (character >= 0x0E && character <= 0x1F) ||
         character == 0x7F || character == 0x8F || character == 0x9F;
}

bool is_space_for_translation(char32_t character) {
  constexpr char32_t kSpaces[] = {0x09, 0x0A, 0x0C, 0x0D, 0x1680, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD};
  return (character >= 0x200B && character <= 0x200F) ||
         std::find(std::begin(kSpaces), std::end(kSpaces), character) != std::end(kSpaces);
}

}  // namespace

void to_lower_case(NormalizedText& text) {
  const auto& lower = lower_case();
  std::string encoded;
  for_each_character(text, [&](char32_t character, size_t bytes, Rewrite& rewrite) {
    auto becomes = lower[character];
    if (becomes.empty()) {
      rewrite.keep(bytes);
      return;
    }
    encoded.clear();
    for (char32_t part : becomes) append_character(encoded, part);
    rewrite.replace(bytes, encoded);
  });
}

void strip_accents(NormalizedText& text) {
  const auto& properties = character_properties();
  for_each_character(text, [&](char32_t character, size_t bytes, Rewrite& rewrite) {
    if (properties[character] & kCombiningMark) {
      rewrite.remove(bytes);
    } else {
      rewrite.keep(bytes);
    }
  });
}

void strip(NormalizedText& text, bool left, bool right) {
  std::string_view all = text.text();
  size_t begin = 0, end = all.size();
  while (left && begin < end && is_white_space(first_character(all.substr(begin))))
    begin += character_bytes(all[begin]);
  while (right && begin < end && is_white_space(last_character(all.substr(0, end)))) {
    do --end;
    while (is_utf8_continuation(all[end]));
  }
  if (end - begin == all.size()) return;
  Rewrite rewrite(text);
  rewrite.remove(begin);
  rewrite.keep(end - begin);
  rewrite.remove(all.size() - end);
  rewrite.finish();
}

void prepend(NormalizedText& text, std::string_view prefix) {
  if (text.text().empty()) return;
  Rewrite rewrite(text);
  rewrite.insert_before(prefix);
  rewrite.finish();
}

void clean_for_translation(NormalizedText& text) {
  for_each_character(text, [&](char32_t character, size_t bytes, Rewrite& rewrite) {
    if (is_removed_for_translation(character)) {
      rewrite.remove(bytes);
    } else if (is_space_for_translation(character)) {
      rewrite.replace(bytes, " ");
    } else {
      rewrite.keep(bytes);
    }
  });
}

const std::array<std::string_view, 256>& byte_texts() {
  static const std::array<std::string, 256> encoded = [] {
    std::array<std::string, 256> result;
    for (size_t byte = 0; byte < result.size(); ++byte) append_character(result[byte], kByteCharacters[byte]);
    return result;
  }();
  static const std::array<std::string_view, 256> texts = [] {
    std::array<std::string_view, 256> result;
    std::copy(encoded.begin(), encoded.end(), result.begin());
    return result;
  }();
  return texts;
}

void to_byte_characters(NormalizedText& text) {
  Rewrite rewrite(text);
  rewrite.replace_bytes(rewrite.rest().size(), byte_texts());
  rewrite.finish();
}

}  // namespace transformers::tokenizers
