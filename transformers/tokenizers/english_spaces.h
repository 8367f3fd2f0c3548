#pragma once

// Spaces that tokenization put before English punctuation and short forms.

#include <string>
#include <string_view>
#include <utility>

#include "transformers/tokenizers/replace_all.h"

namespace transformers::tokenizers {

inline void remove_english_spaces(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (auto [from, to] : kReplacements) replace_all(text, from, to);
}

}  // namespace transformers::tokenizers
