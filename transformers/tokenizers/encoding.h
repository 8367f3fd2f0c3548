#pragma once

// The result of a tokenizer: ids for the model, and the origin of each token in the text.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace transformers::tokenizers {

enum class Direction { Left, Right };

inline constexpr int32_t kNone = -1;  // word or sequence of a token that has no text, such as a special token

/// A text or a pair of texts as tokens. All columns have one value for each token. Only the functions below change
/// their length, and always that of all columns.
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
  std::vector<std::pair<uint32_t, uint32_t>> offsets;  // [begin, end) in the text, in code points
  std::vector<int32_t> word_ids;                       // index of its pre-token, or kNone
  std::vector<int32_t> sequence_ids;                   // 0 or 1: which text of a pair, or kNone
  std::vector<uint32_t> special_tokens_mask;           // 1 for tokens of a post-processor and padding
  std::vector<uint32_t> attention_mask;                // 0 for padding
  std::vector<Spaces> spaces;                          // set only if a post-processor trims offsets, else 0
  std::vector<Encoding> overflowing;                   // the windows that truncation removed

  /// The tokens of each text; `sequence_ids` is derived from it. If both are unset, all tokens belong to text 0,
  /// padding too. For a text that a template repeats it is the last occurrence.
  std::array<std::optional<Range>, 2> sequence_ranges;

  /// `count` tokens of a text. The caller must set ids, offsets, word_ids and spaces.
  static Encoding of_text(size_t count, uint32_t type_id);

  size_t size() const { return ids.size(); }

  /// Inserts a token without text at `position`, which is at most size().
  void insert_special(size_t position, uint32_t id, uint32_t type_id);

  /// Assigns all tokens to text `sequence` of a pair, 0 or 1. Does not change `overflowing`.
  void set_sequence(size_t sequence);

  /// Sets the type of all tokens. Does not change `overflowing`.
  void set_type(uint32_t type_id);

  /// Appends `other`. As for a pair of texts in Python, each overflowing window is combined with the other encoding and
  /// with each of its windows. So the combined windows can have overflowing windows themselves.
  void append(const Encoding& other);

  /// Tokens [begin, end), without overflowing windows and without sequence_ranges.
  Encoding slice(size_t begin, size_t end) const;

  /// Removes tokens on the side `direction` until `max_length` are left. The removed ones are moved to `overflowing`,
  /// in windows of `max_length` tokens that share `stride` tokens with the previous one. Throws Error unless stride <
  /// max_length.
  void truncate(size_t max_length, size_t stride, Direction direction);

  /// Pads to `length` tokens on the side `direction`, the windows of `overflowing` too.
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
