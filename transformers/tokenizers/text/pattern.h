#pragma once

// Search patterns: a literal text, or a regular expression with Unicode classes and look-around. Regular expressions
// are executed by Oniguruma, as in the `tokenizers` package; the common ones for words have their own implementation.

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/text/word_pattern.h"

namespace transformers::tokenizers {

/// A compiled regular expression. Const calls are safe from several threads.
class Regex {
 public:
  /// Throws Error with Oniguruma's message for an invalid pattern.
  explicit Regex(const std::string& pattern);

  /// The first match [begin, end) that begins at `from` or later.
  std::optional<std::pair<size_t, size_t>> search(std::string_view text, size_t from) const;

 private:
  std::shared_ptr<void> compiled_;
};

/// Calls `body(begin, end, is_match)` for the matches in `text` and for the parts between them, in order. A match may
/// be empty, but not directly after another one.
template <class Body>
void for_each_match(const Regex& regex, std::string_view text, const Body& body) {
  size_t from = 0, done = 0;
  std::optional<size_t> last_end;
  while (from <= text.size()) {
    auto match = regex.search(text, from);
    if (!match) break;
    auto [begin, end] = *match;
    if (begin == end && last_end == end) {
      from += from < text.size() ? accelerate::character_bytes(text[from]) : 1;
      continue;
    }
    from = end;
    last_end = end;
    if (done < begin) body(done, begin, false);
    body(begin, end, true);
    done = end;
  }
  if (done < text.size()) body(done, text.size(), false);
}

/// A literal text or a regular expression.
class Pattern {
 public:
  /// Matches `text` literally.
  static Pattern literal(std::string text);

  /// Matches a regular expression. Throws Error if it is invalid.
  static Pattern regex(const std::string& expression);

  /// Calls `body(begin, end, is_match)` for the matches in `text` and for the parts between them, in order.
  template <class Body>
  void for_each_match(std::string_view text, const Body& body) const {
    if (words_) {
      for (size_t begin = 0, end; begin < text.size(); begin = end) body(begin, end = words_->match(text, begin), true);
      return;
    }
    if (regex_) return tokenizers::for_each_match(*regex_, text, body);
    size_t done = 0;
    for (size_t found; (found = text.find(literal_, done)) != std::string_view::npos; done = found + literal_.size()) {
      if (done < found) body(done, found, false);
      body(found, found + literal_.size(), true);
    }
    if (done < text.size()) body(done, text.size(), false);
  }

 private:
  std::string literal_;
  std::optional<WordPattern> words_;  // set if the expression has its own implementation
  std::optional<Regex> regex_;
};

/// Reads the field "pattern" of a component: {"String": text} or {"Regex": expression}.
Pattern read_pattern(const nlohmann::json& description);

}  // namespace transformers::tokenizers
