#include "transformers/tokenizers/text/unicode.h"

#include <cstdint>
#include <iterator>
#include <vector>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::first_character;

namespace {

#include "transformers/tokenizers/text/grapheme_data.inc"

/// In the order of tools/make_grapheme_table.py, then the two kinds of Hangul syllables.
enum class GraphemeClass : uint16_t {
  Other,
  CarriageReturn,
  LineFeed,
  Control,
  Extend,
  ConjunctExtend,  // an Extend that may stand inside a conjunct of consonants
  ConjunctLinker,  // an Extend that joins consonants to a conjunct
  Joiner,
  RegionalIndicator,
  Prepend,
  SpacingMark,
  LeadingConsonant,  // of Hangul, as are the next two
  Vowel,
  TrailingConsonant,
  Pictographic,
  Consonant,  // of a script with conjuncts
  VowelSyllable,
  FullSyllable,
};

using enum GraphemeClass;

CharacterMap read_classes() {
  std::vector<uint16_t> classes;
  for (size_t i = 0; i < std::size(kGraphemeRuns); i += 2) {
    classes.insert(classes.end(), kGraphemeRuns[i], static_cast<uint16_t>(kGraphemeRuns[i + 1]));
  }
  return CharacterMap(classes);
}

GraphemeClass class_of(char32_t character) {
  if (character >= 0xAC00 && character <= 0xD7A3) return (character - 0xAC00) % 28 == 0 ? VowelSyllable : FullSyllable;
  static const CharacterMap classes = read_classes();
  return static_cast<GraphemeClass>(classes[character]);
}

bool is_control(GraphemeClass one) { return one == CarriageReturn || one == LineFeed || one == Control; }

bool is_extend(GraphemeClass one) { return one == Extend || one == ConjunctExtend || one == ConjunctLinker; }

/// One cluster while it grows, with what the rules ask about the characters before the last.
class Cluster {
 public:
  explicit Cluster(GraphemeClass first) : last_(first) { note(first); }

  /// Whether a character of class `next` still belongs to it.
  bool joins(GraphemeClass next) const {
    if (last_ == CarriageReturn) return next == LineFeed;
    if (is_control(last_) || is_control(next)) return false;
    if (is_extend(next) || next == Joiner || next == SpacingMark || last_ == Prepend) return true;
    switch (next) {
      case LeadingConsonant:
      case VowelSyllable:
      case FullSyllable:
        return last_ == LeadingConsonant;
      case Vowel:
        return last_ == LeadingConsonant || last_ == Vowel || last_ == VowelSyllable;
      case TrailingConsonant:
        return last_ == Vowel || last_ == VowelSyllable || last_ == TrailingConsonant || last_ == FullSyllable;
      case Consonant:
        return in_conjunct_ && linked_;
      case Pictographic:
        return last_ == Joiner && after_pictographic_;
      case RegionalIndicator:
        return last_ == RegionalIndicator && num_indicators_ % 2 == 1;
      default:
        return false;
    }
  }

  void add(GraphemeClass next) {
    note(next);
    last_ = next;
  }

 private:
  void note(GraphemeClass next) {
    if (next == Consonant) {
      in_conjunct_ = true;
      linked_ = false;
    } else if (next == ConjunctLinker) {
      linked_ = true;
    } else if (next != ConjunctExtend && next != Joiner) {
      in_conjunct_ = false;
    }
    after_pictographic_ = next == Pictographic || (after_pictographic_ && (is_extend(next) || is_first_joiner(next)));
    num_indicators_ = next == RegionalIndicator ? num_indicators_ + 1 : 0;
  }

  bool is_first_joiner(GraphemeClass next) const { return next == Joiner && last_ != Joiner; }

  GraphemeClass last_;
  bool in_conjunct_ = false;         // a consonant, and since then only what a conjunct may hold
  bool linked_ = false;              // with a linker since that consonant
  bool after_pictographic_ = false;  // a pictographic, then Extends, then at most one Joiner
  int num_indicators_ = 0;           // at the end
};

}  // namespace

size_t grapheme_bytes(std::string_view text) {
  size_t bytes = character_bytes(text[0]);
  Cluster cluster(class_of(first_character(text)));
  while (bytes < text.size()) {
    auto next = class_of(first_character(text.substr(bytes)));
    if (!cluster.joins(next)) break;
    cluster.add(next);
    bytes += character_bytes(text[bytes]);
  }
  return bytes;
}

}  // namespace transformers::tokenizers
