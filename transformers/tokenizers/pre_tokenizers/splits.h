#pragma once

// Splits pieces at delimiters. SplitBehavior determines where the delimiters go.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/text/pieces.h"

namespace transformers::tokenizers {

enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// Reads the field "behavior" of a component, which must be one of the names above.
SplitBehavior read_split_behavior(const nlohmann::json& description);

/// Builds the pieces of a text from the matches of a delimiter and the parts between them, given in order.
template <class Add>
class Splitter {
 public:
  /// `add(begin, end)` takes the pieces.
  Splitter(SplitBehavior behavior, const Add& add) : behavior_(behavior), add_(add) {}

  /// Takes the next part of the text, which must follow the previous one without a gap.
  void take(size_t begin, size_t end, bool is_match) {
    if (behavior_ == SplitBehavior::Isolated) return add_(begin, end);
    if (behavior_ == SplitBehavior::Removed) {
      if (!is_match) add_(begin, end);
      return;
    }
    if (has_pending_ && joins(is_match)) {
      pending_end_ = end;
    } else {
      finish();
      pending_begin_ = begin;
      pending_end_ = end;
      has_pending_ = true;
    }
    last_was_match_ = is_match;
  }

  /// Call it after the last part.
  void finish() {
    if (has_pending_) add_(pending_begin_, pending_end_);
    has_pending_ = false;
  }

 private:
  bool joins(bool is_match) const {
    switch (behavior_) {
      case SplitBehavior::MergedWithPrevious:
        return is_match && !last_was_match_;
      case SplitBehavior::MergedWithNext:
        return !is_match && last_was_match_;
      default:
        return is_match == last_was_match_;
    }
  }

  SplitBehavior behavior_;
  const Add& add_;
  size_t pending_begin_ = 0;
  size_t pending_end_ = 0;
  bool has_pending_ = false;
  bool last_was_match_ = false;
};

/// BERT's words: splits at white space, which is removed, and makes each punctuation mark a piece.
void split_bert_words(Pieces& pieces);

/// Splits into the matches of `\w+|[^\w\s]+`.
void split_words(Pieces& pieces);

/// Splits at characters that have one of `properties` (unicode.h).
void split_at(Pieces& pieces, uint16_t properties, SplitBehavior behavior);

/// Splits at `delimiter`, which is left out.
void split_at_delimiter(Pieces& pieces, char32_t delimiter);

/// Splits where the Unicode script changes.
void split_scripts(Pieces& pieces);

/// Splits into pieces of `length` characters; the last may be shorter.
void split_length(Pieces& pieces, size_t length);

}  // namespace transformers::tokenizers
