#include "transformers/tokenizers/normalizers/character_changes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::append_character;
using accelerate::character_bytes;
using accelerate::first_character;
using accelerate::is_ascii;

namespace {

/// A character to be written. It replaces 1 - change characters of the text.
struct Change {
  char32_t character;
  int change;  // 1: none, it belongs to the one before; 0: one; -n: n more than one
  uint16_t combining_class;
};

bool is_syllable(char32_t character) { return character >= 0xAC00 && character < 0xAC00 + 11172; }

void append_syllable(char32_t character, std::u32string& text) {
  char32_t index = character - 0xAC00;
  text.push_back(0x1100 + index / 588);
  text.push_back(0x1161 + index % 588 / 28);
  if (index % 28 != 0) text.push_back(0x11A7 + index % 28);
}

class Normalization {
 public:
  Normalization(NormalizedText& text, NormalizationForm form)
      : rewrite_(text),
        composes_(form == NormalizationForm::Nfc || form == NormalizationForm::Nfkc),
        compatible_(form == NormalizationForm::Nfkc || form == NormalizationForm::Nfkd),
        unstable_((composes_ ? kUnstable : kCanonical | kReordered) | (compatible_ ? kCompatible : 0)) {}

  /// Processes the text in independent parts: from one stable character to the next.
  void run() {
    while (!rewrite_.done()) {
      std::string_view rest = rewrite_.rest();
      size_t bytes = character_bytes(rest[0]);
      bool is_stable = stable(rest);
      while (bytes < rest.size() && !stable(rest.substr(bytes))) {
        is_stable = false;
        bytes += character_bytes(rest[bytes]);
      }
      if (is_stable) {
        rewrite_.keep(bytes);
      } else {
        normalize_part(rest.substr(0, bytes));
      }
    }
    rewrite_.finish();
  }

  /// Whether there is nothing to do.
  bool is_normal() const {
    std::string_view rest = rewrite_.rest();
    for (size_t position = 0; position < rest.size(); position += character_bytes(rest[position])) {
      if (!stable(rest.substr(position))) return false;
    }
    return true;
  }

 private:
  bool stable(std::string_view text) const { return (properties_[first_character(text)] & unstable_) == 0; }

  void normalize_part(std::string_view part) {
    changes_.clear();
    for (size_t position = 0; position < part.size(); position += character_bytes(part[position])) {
      decompose(first_character(part.substr(position)));
    }
    reorder();
    if (composes_) compose_changes();
    for (const auto& change : changes_) write(change);
  }

  void decompose(char32_t character) {
    decomposed_.clear();
    auto compatible = compatible_ ? compatibility_decompositions()[character] : std::u32string_view();
    if (!compatible.empty()) {
      decomposed_ = compatible;
    } else {
      append_canonical(character, decomposed_);
    }
    for (size_t index = 0; index < decomposed_.size(); ++index) {
      changes_.push_back({decomposed_[index], index == 0 ? 0 : 1, combining_classes()[decomposed_[index]]});
    }
  }

  /// Sorts consecutive marks by their combining class.
  void reorder() {
    auto is_starter = [](const Change& change) { return change.combining_class == 0; };
    for (auto begin = changes_.begin(); begin != changes_.end();) {
      auto end = std::find_if(begin, changes_.end(), is_starter);
      std::stable_sort(begin, end, [](const Change& left, const Change& right) {
        return left.combining_class < right.combining_class;
      });
      begin = std::find_if_not(end, changes_.end(), is_starter);
    }
  }

  /// Composes each starter with the following marks that are not blocked.
  void compose_changes() {
    size_t written = 0;
    size_t starter = SIZE_MAX;
    for (const Change change : changes_) {
      if (starter != SIZE_MAX) {
        bool adjacent = written == starter + 1;
        uint16_t last_class = changes_[written - 1].combining_class;
        bool blocked = !adjacent && (last_class == 0 || last_class >= change.combining_class);
        char32_t together = blocked ? 0 : compose(changes_[starter].character, change.character);
        if (together != 0) {
          changes_[starter].character = together;
          changes_[starter].change += change.change - 1;
          continue;
        }
      }
      if (change.combining_class == 0) starter = written;
      changes_[written++] = change;
    }
    changes_.resize(written);
  }

  void write(const Change& change) {
    encoded_.clear();
    append_character(encoded_, change.character);
    if (change.change > 0) return rewrite_.insert(encoded_);
    rewrite_.replace(character_bytes(rewrite_.rest()[0]), encoded_);
    for (int removed = 0; removed < -change.change; ++removed) rewrite_.remove(character_bytes(rewrite_.rest()[0]));
  }

  Rewrite rewrite_;
  bool composes_;
  bool compatible_;
  int unstable_;  // the properties of characters that may change or move
  const CharacterMap& properties_ = character_properties();
  std::vector<Change> changes_;
  std::u32string decomposed_;
  std::string encoded_;
};

}  // namespace

void append_canonical(char32_t character, std::u32string& text) {
  if (is_syllable(character)) return append_syllable(character, text);
  auto canonical = canonical_decompositions()[character];
  if (canonical.empty()) {
    text.push_back(character);
  } else {
    text.append(canonical);
  }
}

void normalize_form(NormalizedText& text, NormalizationForm form) {
  if (is_ascii(text.text())) return;
  Normalization normalization(text, form);
  if (!normalization.is_normal()) normalization.run();
}

}  // namespace transformers::tokenizers
