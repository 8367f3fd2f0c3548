#pragma once

// The regular expressions that cut text into words for GPT-2 and its relatives, run without a regex engine.

#include <cstddef>
#include <optional>
#include <string_view>

namespace transformers::tokenizers {

/// One of the expressions
///
///   GPT-2:  's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///   later:  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|
///           \s+(?!\S)|\s+       (and the same with \p{N} in place of \p{N}{1,3})
///
/// All of them match any text from its first to its last character without a gap.
class WordPattern {
 public:
  static WordPattern gpt2() { return WordPattern(/*is_gpt2=*/true, /*max_digits=*/SIZE_MAX); }

  /// The one that `expression` spells, if it is one of them.
  static std::optional<WordPattern> recognize(std::string_view expression);

  /// Where the match that begins at `begin` ends; begin < text.size().
  size_t match(std::string_view text, size_t begin) const {
    return is_gpt2_ ? match_gpt2(text, begin) : match_later(text, begin);
  }

 private:
  WordPattern(bool is_gpt2, size_t max_digits) : is_gpt2_(is_gpt2), max_digits_(max_digits) {}

  size_t match_gpt2(std::string_view text, size_t begin) const;
  size_t match_later(std::string_view text, size_t begin) const;

  bool is_gpt2_;
  size_t max_digits_;
};

}  // namespace transformers::tokenizers
