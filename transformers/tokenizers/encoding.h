#pragma once

// What a tokenizer makes of a text: ids for the model, and for each where it came from.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace transformers::tokenizers {

enum class Direction { Left, Right };

inline constexpr int32_t kNone = -1;  // the word or sequence of a token that no text stands behind

/// A text or a pair of texts as tokens. All vectors are of one length, but for `overflowing` and `spaces`.
struct Encoding {
  /// White space at both ends of a token's own text, in characters.
  struct Spaces {
    uint32_t leading = 0;
    uint32_t trailing = 0;
  };

  std::vector<uint32_t> ids;
  std::vector<uint32_t> type_ids;
  std::vector<std::pair<uint32_t, uint32_t>> offsets;  // first and one past the last character (code point) of the text
  std::vector<int32_t> word_ids;                       // which pre-token it is part of, or kNone
  std::vector<int32_t> sequence_ids;                   // 0 or 1: which text of a pair, or kNone
  std::vector<uint32_t> special_tokens_mask;           // 1 for what a post-processor or padding added
  std::vector<uint32_t> attention_mask;                // 0 for padding
  std::vector<Encoding> overflowing;                   // what truncation cut off, in windows
  std::vector<Spaces> spaces;  // only on the way to a post-processor that asked for them, else empty

  size_t size() const { return ids.size(); }

  /// Makes room for `count` tokens.
  void reserve(size_t count);

  /// Inserts a token that stands for no text before the one at `position` (at the end when that is size()).
  void insert_special(size_t position, uint32_t id, uint32_t type_id);

  /// Gives all tokens, and those of `overflowing`, to text `sequence` of a pair.
  void set_sequence(int32_t sequence);

  /// Gives all tokens, and those of `overflowing`, the type `type_id`.
  void set_type(uint32_t type_id);

  /// Appends `other`. Overflowing windows of either are combined with all of the other's, as for a pair of texts.
  void append(const Encoding& other);

  /// Tokens [begin, end), without overflowing windows.
  Encoding slice(size_t begin, size_t end) const;

  /// Keeps `max_length` tokens of the end opposite to `direction` and moves the rest to `overflowing`, in windows of
  /// that length that share `stride` tokens with the one before. Throws Error unless stride < max_length.
  void truncate(size_t max_length, size_t stride, Direction direction);

  /// Fills up to `length` tokens on the side `direction`, the windows of `overflowing` too.
  void pad(size_t length, uint32_t pad_id, uint32_t pad_type_id, Direction direction);
};

}  // namespace transformers::tokenizers

namespace transformers {
using tokenizers::Encoding;
}
