#pragma once

// Replaces all occurrences of a string in a text.

#include <string>
#include <string_view>
#include <utility>

#include "accelerate/base/utf8.h"

namespace transformers::tokenizers {

/// Replaces each `from` in `text` by `to`, from left to right. An empty `from` matches before each character and at the
/// end.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (text.find(from) == std::string::npos) return;
  std::string result;
  size_t position = 0;
  while (position < text.size()) {
    size_t found = from.empty() ? position : text.find(from, position);
    result.append(text, position, found - position);
    if (found == std::string::npos) break;
    result.append(to);
    position = found + from.size();
    if (from.empty()) {
      result.append(text, position, accelerate::character_bytes(text[position]));
      position += accelerate::character_bytes(text[position]);
    }
  }
  if (from.empty()) result.append(to);
  text = std::move(result);
}

/// Removes the spaces that English has before punctuation and contractions only after tokenization, as Python does.
inline void remove_english_spaces(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (auto [from, to] : kReplacements) replace_all(text, from, to);
}

}  // namespace transformers::tokenizers
