#include "transformers/tokenizers/normalizers/bert_normalizer.h"

#include <string>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/normalizers/character_changes.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::append_character;
using accelerate::character_bytes;
using accelerate::first_character;
using accelerate::is_ascii;

namespace {

/// CJK ideographs as the reference implementation has them: the fifth block begins at 2B920, not at 2B820.
bool is_ideograph(char32_t character) {
  if (character < 0x3400) return false;
  return character <= 0x4DBF || (character >= 0x4E00 && character <= 0x9FFF) ||
         (character >= 0xF900 && character <= 0xFAFF) || (character >= 0x20000 && character <= 0x2A6DF) ||
         (character >= 0x2A700 && character <= 0x2B81F) || (character >= 0x2B920 && character <= 0x2CEAF) ||
         (character >= 0x2F800 && character <= 0x2FA1F);
}

/// ASCII that clean_text removes.
bool is_control(char character) {
  return (character < ' ' && character != '\t' && character != '\n' && character != '\r') || character == 0x7F;
}

/// Length of the ASCII text at the start without characters that would be removed.
size_t plain_bytes(std::string_view text) {
  size_t bytes = 0;
  while (bytes < text.size() && is_ascii(text[bytes]) && !is_control(text[bytes])) ++bytes;
  return bytes;
}

bool has_odd_mark(std::string_view text) {
  const auto& properties = character_properties();
  for (size_t position = 0; position < text.size(); position += character_bytes(text[position])) {
    if (!is_ascii(text[position]) && properties[first_character(text.substr(position))] & kOddMark) return true;
  }
  return false;
}

void remove_nonspacing_marks(NormalizedText& text) {
  Rewrite rewrite(text);
  while (!rewrite.done()) {
    std::string_view rest = rewrite.rest();
    if (character_properties()[first_character(rest)] & kNonspacingMark) {
      rewrite.remove(character_bytes(rest[0]));
    } else {
      rewrite.keep(character_bytes(rest[0]));
    }
  }
  rewrite.finish();
}

}  // namespace

void BertNormalizer::normalize(NormalizedText& text) const {
  if (options_.strip_accents && has_odd_mark(text.text())) return normalize_in_steps(text);
  Rewrite rewrite(text);
  std::string changed;
  while (!rewrite.done()) {
    std::string_view rest = rewrite.rest();
    if (size_t plain = plain_bytes(rest)) {
      change_ascii(rewrite.keep(plain), plain);
      continue;
    }
    size_t bytes = character_bytes(rest[0]);
    changed.clear();
    append_changed(first_character(rest), changed);
    if (changed.empty()) {
      rewrite.remove(bytes);
    } else {
      rewrite.replace(bytes, changed);
    }
  }
  rewrite.finish();
}

/// For marks that stay and change places with others: what each comes from then depends on the steps.
void BertNormalizer::normalize_in_steps(NormalizedText& text) const {
  BertNormalizer({options_.clean_text, options_.handle_chinese_chars, false, false}).normalize(text);
  normalize_form(text, NormalizationForm::Nfd);
  remove_nonspacing_marks(text);
  if (options_.lowercase) BertNormalizer({false, false, false, true}).normalize(text);
}

void BertNormalizer::change_ascii(char* text, size_t bytes) const {
  if (options_.lowercase) {
    for (size_t index = 0; index < bytes; ++index) {
      bool is_upper = text[index] >= 'A' && text[index] <= 'Z';
      text[index] = static_cast<char>(text[index] + (is_upper ? 'a' - 'A' : 0));
    }
  }
  if (options_.clean_text) {
    for (size_t index = 0; index < bytes; ++index) text[index] = text[index] < ' ' ? ' ' : text[index];
  }
}

void BertNormalizer::append_changed(char32_t character, std::string& changed) const {
  uint16_t properties = character_properties()[character];
  if (options_.clean_text) {
    if (properties & kRemovedByClean) return;
    if (properties & kWhiteSpace) character = ' ';
  }
  bool is_apart = options_.handle_chinese_chars && is_ideograph(character);
  if (is_apart) changed.push_back(' ');
  if (options_.strip_accents && properties & (kCanonical | kNonspacingMark)) {
    std::u32string parts;
    append_canonical(character, parts);
    for (char32_t part : parts) {
      if (!(character_properties()[part] & kNonspacingMark)) append_lower_case(part, changed);
    }
  } else {
    append_lower_case(character, changed);
  }
  if (is_apart) changed.push_back(' ');
}

void BertNormalizer::append_lower_case(char32_t character, std::string& changed) const {
  auto lower = options_.lowercase ? lower_case()[character] : std::u32string_view();
  if (lower.empty()) return append_character(changed, character);
  for (char32_t part : lower) append_character(changed, part);
}

}  // namespace transformers::tokenizers
