#pragma once

// What a tokenizer makes of a text: ids for the model, and for each where it came from.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace transformers::tokenizers {

enum class Direction { Left, Right };

inline constexpr int32_t kNone = -1;  // the word or sequence of a token that no text stands behind

/// A text or a pair of texts as tokens. All columns have one value for each token; only the functions below change
/// their length, always of all together.
struct Encoding {
  /// White space at both ends of a token's own text, in characters.
  struct Spaces {
    uint32_t leading = 0;
    uint32_t trailing = 0;
  };

  /// Tokens [begin, end).
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  std::vector<uint32_t> ids;
  std::vector<uint32_t> type_ids;
  std::vector<std::pair<uint32_t, uint32_t>> offsets;  // first and one past the last character (code point) of the text
  std::vector<int32_t> word_ids;                       // which pre-token it is part of, or kNone
  std::vector<int32_t> sequence_ids;                   // 0 or 1: which text of a pair, or kNone
  std::vector<uint32_t> special_tokens_mask;           // 1 for what a post-processor or padding added
  std::vector<uint32_t> attention_mask;                // 0 for padding
  std::vector<Spaces> spaces;                          // counted for a post-processor that trims offsets, else 0
  std::vector<Encoding> overflowing;                   // what truncation cut off, in windows

  /// Where the texts are; `sequence_ids` follows from it. Without any, all tokens are those of text 0, padding too. A
  /// text that a template repeats is where it stands last.
  std::array<std::optional<Range>, 2> sequence_ranges;

  /// `count` tokens of a text, of which ids, offsets, words and spaces are still to be set.
  static Encoding of_text(size_t count, uint32_t type_id);

  size_t size() const { return ids.size(); }

  /// Inserts a token that stands for no text before the one at `position` (at the end when that is size()).
  void insert_special(size_t position, uint32_t id, uint32_t type_id);

  /// Gives all tokens to text `sequence` of a pair, 0 or 1; the windows of `overflowing` stay.
  void set_sequence(size_t sequence);

  /// Gives all tokens the type `type_id`; the windows of `overflowing` stay.
  void set_type(uint32_t type_id);

  /// Appends `other`. Overflowing windows of either are combined with all of the other's, as for a pair of texts. A
  /// window that is combined with an encoding that has windows has windows of its own.
  void append(const Encoding& other);

  /// Tokens [begin, end), without overflowing windows and without knowing their text.
  Encoding slice(size_t begin, size_t end) const;

  /// Keeps `max_length` tokens of the end opposite to `direction` and moves the rest to `overflowing`, in windows of
  /// that length that share `stride` tokens with the one before. Throws Error unless stride < max_length.
  void truncate(size_t max_length, size_t stride, Direction direction);

  /// Fills up to `length` tokens on the side `direction`, the windows of `overflowing` too.
  void pad(size_t length, uint32_t pad_id, uint32_t pad_type_id, Direction direction);

 private:
  void insert_tokens(size_t position, size_t count, uint32_t id, uint32_t type_id, uint32_t attention);
  void append_tokens(const Encoding& other);
  void number_sequences();
};

}  // namespace transformers::tokenizers

namespace transformers {
using tokenizers::Encoding;
}
