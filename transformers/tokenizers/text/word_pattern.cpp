#include "transformers/tokenizers/text/word_pattern.h"

#include <array>
#include <cstdint>
#include <string>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::first_character;
using accelerate::is_ascii;

namespace {

enum class Kind : uint8_t { Letter, Number, Space, LineBreak, Other };

Kind kind_of(char32_t character) {
  uint16_t properties = character_properties()[character];
  if (properties & kLetter) return Kind::Letter;
  if (properties & kNumber) return Kind::Number;
  if (character == '\n' || character == '\r') return Kind::LineBreak;
  return properties & kWhiteSpace ? Kind::Space : Kind::Other;
}

bool is_space(Kind kind) { return kind == Kind::Space || kind == Kind::LineBreak; }

/// A character with its length.
struct Reading {
  Kind kind;
  size_t bytes;
};

Reading read(std::string_view text, size_t position) {
  static const std::array<Kind, 128> ascii_kinds = [] {
    std::array<Kind, 128> kinds{};
    for (char32_t character = 0; character < 128; ++character) kinds[character] = kind_of(character);
    return kinds;
  }();
  if (is_ascii(text[position])) return {ascii_kinds[static_cast<unsigned char>(text[position])], 1};
  return {kind_of(first_character(text.substr(position))), character_bytes(text[position])};
}

/// The end of the characters of `kind` from `position` on, at most `limit` of them.
size_t skip(std::string_view text, size_t position, Kind kind, size_t limit = SIZE_MAX) {
  for (size_t count = 0; position < text.size() && count < limit; ++count) {
    Reading next = read(text, position);
    if (next.kind != kind) break;
    position += next.bytes;
  }
  return position;
}

/// Length of one of 's 't 'm 'd 're 've 'll at `position`, or 0.
size_t contraction_bytes(std::string_view text, size_t position, bool any_case) {
  constexpr std::string_view kLongS = "\u017F";  // "s" to a comparison that ignores case
  if (text[position] != '\'') return 0;
  std::string_view rest = text.substr(position + 1);
  if (any_case && rest.starts_with(kLongS)) return 1 + kLongS.size();
  auto letter = [&](size_t index) {
    char character = index < rest.size() ? rest[index] : '\0';
    return any_case && character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
  };
  char first = letter(0), second = letter(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  bool is_long = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return is_long ? 3 : 0;
}

/// `\s+(?!\S)|\s+`: the spaces from `begin` on, but for the last one when a word follows and it is not the only one.
size_t match_spaces(std::string_view text, size_t begin) {
  size_t end = begin, last = begin;
  while (end < text.size()) {
    Reading next = read(text, end);
    if (!is_space(next.kind)) break;
    last = end;
    end += next.bytes;
  }
  return end < text.size() && last > begin ? last : end;
}

/// `\s*[\r\n]+`: the end of the last line break among the spaces from `begin` on, or `begin`.
size_t match_line_breaks(std::string_view text, size_t begin) {
  size_t end = begin;
  for (size_t position = begin; position < text.size();) {
    Reading next = read(text, position);
    if (!is_space(next.kind)) break;
    position += next.bytes;
    if (next.kind == Kind::LineBreak) end = position;
  }
  return end;
}

}  // namespace

std::optional<WordPattern> WordPattern::recognize(std::string_view expression) {
  constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  const std::string begin = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
  const std::string end = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  if (expression == kGpt2) return gpt2();
  if (expression == begin + R"(\p{N}{1,3})" + end) return WordPattern(false, 3);
  if (expression == begin + R"(\p{N})" + end) return WordPattern(false, 1);
  return std::nullopt;
}

size_t WordPattern::match_gpt2(std::string_view text, size_t begin) const {
  if (size_t bytes = contraction_bytes(text, begin, /*any_case=*/false)) return begin + bytes;
  Reading first = read(text, begin);
  bool after_space = text[begin] == ' ' && begin + 1 < text.size();
  size_t word = after_space ? begin + 1 : begin;
  Reading next = after_space ? read(text, word) : first;
  if (!is_space(next.kind)) return skip(text, word + next.bytes, next.kind);
  return match_spaces(text, begin);
}

size_t WordPattern::match_later(std::string_view text, size_t begin) const {
  if (size_t bytes = contraction_bytes(text, begin, /*any_case=*/true)) return begin + bytes;
  Reading first = read(text, begin);
  if (first.kind == Kind::Letter) return skip(text, begin + first.bytes, Kind::Letter);
  if (first.kind == Kind::Number) return skip(text, begin, Kind::Number, max_digits_);
  size_t second = begin + first.bytes;
  if (first.kind != Kind::LineBreak && second < text.size()) {
    Reading next = read(text, second);
    if (next.kind == Kind::Letter) return skip(text, second + next.bytes, Kind::Letter);
    if (text[begin] == ' ' && next.kind == Kind::Other) {
      return skip(text, skip(text, second, Kind::Other), Kind::LineBreak);
    }
  }
  if (first.kind == Kind::Other) return skip(text, skip(text, begin, Kind::Other), Kind::LineBreak);
  size_t end = match_line_breaks(text, begin);
  return end > begin ? end : match_spaces(text, begin);
}

}  // namespace transformers::tokenizers
