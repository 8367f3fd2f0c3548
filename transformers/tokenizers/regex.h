#pragma once

// Regular expressions with Unicode classes and look-around, on Oniguruma.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "accelerate/base/utf8.h"

namespace transformers::tokenizers {

/// A compiled regular expression. Const calls are safe from several threads.
class Regex {
 public:
  /// Throws Error, with what Oniguruma has to say, for a pattern that is not one.
  explicit Regex(const std::string& pattern);

  /// The first match [begin, end) that begins at `from` or later.
  std::optional<std::pair<size_t, size_t>> search(std::string_view text, size_t from) const;

 private:
  std::shared_ptr<void> compiled_;
};

/// Calls `body(begin, end, is_match)` for the matches in `text` and for what lies between them, in order. A match may
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

}  // namespace transformers::tokenizers
