#pragma once

// What Split and Replace look for: a text as it is, or a regular expression.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "transformers/tokenizers/regex.h"
#include "transformers/tokenizers/word_pattern.h"

namespace transformers::tokenizers {

/// A text or a regular expression to look for.
class Pattern {
 public:
  /// Looks for `text` itself.
  static Pattern literal(std::string text);

  /// Looks for what a regular expression matches. Throws Error when it is not one.
  static Pattern regex(const std::string& expression);

  /// Calls `body(begin, end, is_match)` for the matches in `text` and for what lies between them, in order.
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
  std::optional<WordPattern> words_;  // an expression that needs no engine
  std::optional<Regex> regex_;
};

/// Reads the field "pattern" of a component: {"String": text} or {"Regex": expression}.
Pattern read_pattern(const nlohmann::json& description);

}  // namespace transformers::tokenizers
