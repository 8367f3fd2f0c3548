#pragma once

// What is known of each Unicode character. The parts of the reference implementation stand on different versions of
// Unicode; the tables here hold its answers (tools/make_unicode_tables.py), under the name of the part that gave them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace transformers::tokenizers {

/// Bits that CharacterMap has for a character.
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

/// A value for each character, in pages of which equal neighbours are stored once.
class CharacterMap {
 public:
  /// Stores `values`, one for each code point.
  explicit CharacterMap(const std::vector<uint16_t>& values);

  uint16_t operator[](char32_t character) const { return values_[pages_[character >> 8] + (character & 0xFF)]; }

 private:
  std::array<uint32_t, 0x1100> pages_ = {};  // where in `values_` the page begins
  std::vector<uint16_t> values_;
};

/// Texts that some characters become.
class CharacterTexts {
 public:
  /// `texts` is in order of the characters.
  explicit CharacterTexts(std::vector<std::pair<char32_t, std::u32string>> texts);

  /// What `character` becomes; empty when it has no entry.
  std::u32string_view operator[](char32_t character) const { return texts_[index_[character]].second; }

 private:
  std::vector<std::pair<char32_t, std::u32string>> texts_;
  CharacterMap index_;
};

/// The properties of all characters. `character_properties()[c] & kLetter` asks for one.
const CharacterMap& character_properties();

/// Whether `character` is white space.
inline bool is_white_space(char32_t character) { return character_properties()[character] & kWhiteSpace; }

/// The script of each character for the pre-tokenizer UnicodeScripts, as a number; 0 goes with any.
const CharacterMap& character_scripts();

/// Lower case of those that have one.
const CharacterTexts& lower_case();

/// Full canonical (NFD) and compatibility (NFKD, where it differs) decompositions, but for Hangul syllables.
const CharacterTexts& canonical_decompositions();
const CharacterTexts& compatibility_decompositions();

/// Canonical combining class of each character.
const CharacterMap& combining_classes();

/// What NFC makes of two neighbours; 0 when they stay two.
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
