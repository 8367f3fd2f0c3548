#include "transformers/tokenizers/pre_tokenizers/splits.h"

#include <array>
#include <string>
#include <string_view>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::first_character;
using accelerate::is_ascii;

namespace {

/// Calls `body(character, begin, end)` for each character of `piece`, with its place in the text.
template <class Body>
void for_each_character(const Pieces& pieces, const Piece& piece, const Body& body) {
  std::string_view text = pieces.text.text();
  for (size_t begin = piece.begin; begin < piece.end;) {
    size_t end = begin + character_bytes(text[begin]);
    body(first_character(text.substr(begin)), begin, end);
    begin = end;
  }
}

/// Splits at the characters for which `is_match(character)` is true.
template <class IsMatch>
void split_at_characters(Pieces& pieces, SplitBehavior behavior, const IsMatch& is_match) {
  pieces.cut([&](const Piece& piece, const auto& add) {
    Splitter splitter(behavior, add);
    size_t done = piece.begin;
    for_each_character(pieces, piece, [&](char32_t character, size_t begin, size_t end) {
      if (!is_match(character)) return;
      if (done < begin) splitter.take(done, begin, false);
      splitter.take(begin, end, true);
      done = end;
    });
    if (done < piece.end) splitter.take(done, piece.end, false);
    splitter.finish();
  });
}

enum class Kind : uint8_t { Word, Space, Mark };

Kind bert_kind(uint16_t properties) {
  return properties & kWhiteSpace ? Kind::Space : properties & kPunctuation ? Kind::Mark : Kind::Word;
}

Kind word_kind(uint16_t properties) {
  return properties & kWhiteSpace ? Kind::Space : properties & kWordCharacter ? Kind::Word : Kind::Mark;
}

/// Joins neighbours of one kind, leaves spaces out; marks stand alone when `marks_alone`.
template <Kind (*kind_of)(uint16_t), bool marks_alone>
void split_kinds(Pieces& pieces) {
  const auto& properties = character_properties();
  static const std::array<Kind, 128> ascii_kinds = [&] {
    std::array<Kind, 128> kinds{};
    for (char32_t character = 0; character < 128; ++character) kinds[character] = kind_of(properties[character]);
    return kinds;
  }();
  std::string_view text = pieces.text.text();
  pieces.cut([&](const Piece& piece, const auto& add) {
    size_t done = piece.begin;
    Kind last = Kind::Space;
    for (size_t begin = piece.begin; begin < piece.end;) {
      Kind kind = is_ascii(text[begin]) ? ascii_kinds[static_cast<unsigned char>(text[begin])]
                                        : kind_of(properties[first_character(text.substr(begin))]);
      if (kind != last || (marks_alone && kind == Kind::Mark)) {
        if (last != Kind::Space) add(done, begin);
        done = begin;
        last = kind;
      }
      begin += character_bytes(text[begin]);
    }
    if (last != Kind::Space) add(done, piece.end);
  });
}

}  // namespace

void split_bert_words(Pieces& pieces) { split_kinds<bert_kind, /*marks_alone=*/true>(pieces); }

void split_words(Pieces& pieces) { split_kinds<word_kind, /*marks_alone=*/false>(pieces); }

void split_at(Pieces& pieces, uint16_t properties, SplitBehavior behavior) {
  const auto& all = character_properties();
  split_at_characters(pieces, behavior, [&](char32_t character) { return (all[character] & properties) != 0; });
}

void split_at_delimiter(Pieces& pieces, char32_t delimiter) {
  split_at_characters(pieces, SplitBehavior::Removed, [&](char32_t character) { return character == delimiter; });
}

void split_scripts(Pieces& pieces) {
  const auto& scripts = character_scripts();
  pieces.cut([&](const Piece& piece, const auto& add) {
    // Characters that go with any script are part of the piece before them; before the first script they are left out.
    size_t done = piece.end;
    uint16_t last = 0;
    for_each_character(pieces, piece, [&](char32_t character, size_t begin, size_t) {
      uint16_t script = scripts[character];
      if (script == 0 || script == last) return;
      add(done, begin);
      done = begin;
      last = script;
    });
    add(done, piece.end);
  });
}

void split_length(Pieces& pieces, size_t length) {
  pieces.cut([&](const Piece& piece, const auto& add) {
    size_t done = piece.begin, count = 0;
    for_each_character(pieces, piece, [&](char32_t, size_t, size_t end) {
      if (++count % length != 0) return;
      add(done, end);
      done = end;
    });
    add(done, piece.end);
  });
}

SplitBehavior read_split_behavior(const nlohmann::json& description) {
  auto name = field<std::string>(description, "behavior");
  if (name == "Removed") return SplitBehavior::Removed;
  if (name == "Isolated") return SplitBehavior::Isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::MergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::MergedWithNext;
  if (name == "Contiguous") return SplitBehavior::Contiguous;
  fail_field(description, "behavior", "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

}  // namespace transformers::tokenizers
