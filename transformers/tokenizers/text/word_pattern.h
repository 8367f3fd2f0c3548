#pragma once

// The regular expressions of GPT-2 and similar models for words, implemented without a regex engine.

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
/// The matches of each expression cover any text without gaps.
class WordPattern {
 public:
  static WordPattern gpt2() { return WordPattern(/*is_gpt2=*/true, /*max_digits=*/SIZE_MAX); }

  /// The pattern that equals `expression`; nullopt if there is none.
  static std::optional<WordPattern> recognize(std::string_view expression);

  /// The end of the match that begins at `begin`; begin < text.size().
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
