#pragma once

// A text during normalization, with the origin of each of its bytes in the original text.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace transformers::tokenizers {

/// Bytes [begin, end) of the original text.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

/// A text and the origin of its bytes. Origins are stored only after a change that moves characters; a change of case
/// does not. The text is not copied before the first change.
class NormalizedText {
 public:
  /// Starts with `original`, which must be valid UTF-8 and outlive this. `begin` is its offset in the whole input.
  explicit NormalizedText(std::string_view original = {}, uint32_t begin = 0) { reset(original, begin); }

  NormalizedText(const NormalizedText&) = delete;  // `text_` may point into it
  NormalizedText& operator=(const NormalizedText&) = delete;

  /// Starts again with another text and reuses the memory.
  void reset(std::string_view original, uint32_t begin = 0);

  std::string_view text() const { return text_; }

  /// Appends another part of the same original.
  void append(const NormalizedText& part);

  /// The origin of bytes [begin, end) of the text, in whole characters of the original; begin < end.
  Span origin(size_t begin, size_t end) const;

 private:
  friend class Rewrite;
  Span span_at(size_t position) const;  // origin of the character that contains the byte

  std::string_view text_;  // the original or `storage_`
  std::string storage_;
  std::vector<Span> spans_;  // one for each byte, or none: the byte at i came from begin_ + i
  uint32_t begin_ = 0;

  std::string next_storage_;  // what a Rewrite writes into
  std::vector<Span> next_spans_;
};

/// One pass over a text from its first byte to its last, in which every character is kept, removed or replaced:
///
///   Rewrite rewrite(text);
///   while (!rewrite.done()) rewrite.rest()[0] == 'a' ? rewrite.replace(1, "b") : rewrite.keep(1);
///   rewrite.finish();
class Rewrite {
 public:
  /// `text` is changed by finish(), and not before.
  explicit Rewrite(NormalizedText& text);

  bool done() const { return position_ == source_.size(); }

  /// The part that has not been read yet.
  std::string_view rest() const { return source_.substr(position_); }

  /// How many bytes have been read.
  size_t position() const { return position_; }

  /// How many bytes have been written.
  size_t written() const { return written_.size(); }

  /// Copies the next `bytes`, which must be whole characters. In the returned copy the caller may replace ASCII
  /// characters by other ASCII characters.
  char* keep(size_t bytes);

  /// Skips the next `bytes`.
  void remove(size_t bytes) { position_ += bytes; }

  /// Replaces the next `bytes` by `with`. Its origin is the first of the replaced characters.
  void replace(size_t bytes, std::string_view with);

  /// Replaces each byte of the next `bytes` by `texts[byte]`. Its origin is the character that contains the byte.
  void replace_bytes(size_t bytes, const std::array<std::string_view, 256>& texts);

  /// Inserts `text`. Its origin is the character before it, or empty at the start.
  void insert(std::string_view text);

  /// Inserts `text`. Its origin is the character after it.
  void insert_before(std::string_view text) { append(text, target_.span_at(position_)); }

  /// Copies the rest and stores the result in the text.
  void finish();

 private:
  void store_spans();
  void append(std::string_view text, Span span);

  NormalizedText& target_;
  std::string_view source_;
  size_t position_ = 0;
  std::string& written_;
  std::vector<Span>& spans_;
  bool same_places_;  // so far, each byte is at its position in the original
};

}  // namespace transformers::tokenizers
