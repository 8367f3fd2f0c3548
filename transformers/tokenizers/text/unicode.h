#pragma once

// Tables of Unicode properties, generated from the `tokenizers` package (tools/make_unicode_tables.py). Its components
// use different versions of Unicode, so a property is named after the component that uses it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace transformers::tokenizers {

/// The bits of character_properties().
enum Property : uint16_t {
  kLetter = 1 << 0,  // \p{L} of regular expressions
  kNumber = 1 << 1,  // \p{N} of regular expressions
  kWhiteSpace = 1 << 2,
  kRemovedByClean = 1 << 3,  // by BertNormalizer's clean_text
  kNonspacingMark = 1 << 4,  // removed by BertNormalizer's strip_accents
  kCombiningMark = 1 << 5,   // removed by StripAccents
  kPunctuation = 1 << 6,
  kNumeric = 1 << 7,        // for Digits
  kWordCharacter = 1 << 8,  // for Whitespace and for added tokens that are a single word
  kReordered = 1 << 9,      // has a combining class
  kCanonical = 1 << 10,     // has a canonical decomposition
  kCompatible = 1 << 11,    // has a compatibility decomposition that differs from the canonical one
  kUnstable = 1 << 12,      // NFC may change it or join it with the character before
  kOddMark = 1 << 13,       // it, or a part of its decomposition, moves in NFD but is not removed by BertNormalizer
};

/// A value for each code point, in pages. Equal neighbouring pages are stored once.
class CharacterMap {
 public:
  /// Stores `values`, one for each code point.
  explicit CharacterMap(const std::vector<uint16_t>& values);

  uint16_t operator[](char32_t character) const { return values_[pages_[character >> 8] + (character & 0xFF)]; }

 private:
  std::array<uint32_t, 0x1100> pages_ = {};  // where in `values_` the page begins
  std::vector<uint16_t> values_;
};

/// A map from characters to texts.
class CharacterTexts {
 public:
  /// `texts` is sorted by character.
  explicit CharacterTexts(std::vector<std::pair<char32_t, std::u32string>> texts);

  /// The text of `character`; empty if it has no entry.
  std::u32string_view operator[](char32_t character) const { return texts_[index_[character]].second; }

 private:
  std::vector<std::pair<char32_t, std::u32string>> texts_;
  CharacterMap index_;
};

/// The properties of all characters. `character_properties()[c] & kLetter` asks for one.
const CharacterMap& character_properties();

/// Whether `character` is white space.
inline bool is_white_space(char32_t character) { return character_properties()[character] & kWhiteSpace; }

/// The script of each character for the pre-tokenizer UnicodeScripts, as a number; 0 matches any script.
const CharacterMap& character_scripts();

/// The lower case of characters that have one.
const CharacterTexts& lower_case();

/// Full canonical (NFD) and compatibility (NFKD, if different) decompositions, without Hangul syllables.
const CharacterTexts& canonical_decompositions();
const CharacterTexts& compatibility_decompositions();

/// Canonical combining class of each character.
const CharacterMap& combining_classes();

/// The canonical composition of two characters; 0 if there is none.
char32_t compose(char32_t first, char32_t second);

/// A class of characters that regular expressions name as \p{name}, as its ranges [first, last].
struct NamedClass {
  std::string name;
  std::vector<std::pair<char32_t, char32_t>> ranges;
};

/// The general categories ("L", "Lu", ...), "Han", "Word" (\w) and "BracketedWord" ([\w], which has no
/// superscripts and fractions of Latin-1).
std::vector<NamedClass> named_classes();

/// Bytes of the grapheme cluster that `text`, which is not empty and valid UTF-8, begins with.
size_t grapheme_bytes(std::string_view text);

}  // namespace transformers::tokenizers
