#pragma once

// A text that changes on its way to the model, while each of its bytes knows where in the original it came from.

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

/// A text and the origin of its bytes. As long as it has the characters of the original in the same places (but perhaps
/// in another case), nothing is stored for the origins, and nothing copied before the first change.
class NormalizedText {
 public:
  /// The text as it is, which must be valid UTF-8 and outlive this. `begin` is its place in the whole input.
  explicit NormalizedText(std::string_view original = {}, uint32_t begin = 0) { reset(original, begin); }

  NormalizedText(const NormalizedText&) = delete;  // `text_` may point into it
  NormalizedText& operator=(const NormalizedText&) = delete;

  /// Starts again with another text, keeping the memory.
  void reset(std::string_view original, uint32_t begin = 0);

  std::string_view text() const { return text_; }

  /// Puts another part of the same original at the end.
  void append(const NormalizedText& part);

  /// The characters of the original behind bytes [begin, end) of the text; begin < end.
  Span origin(size_t begin, size_t end) const;

 private:
  friend class Rewrite;
  Span span_at(size_t position) const;  // of the character that the byte is part of

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
  /// `text` changes when finish() is called; without that call it stays as it is.
  explicit Rewrite(NormalizedText& text);

  bool done() const { return position_ == source_.size(); }

  /// What has not been read yet.
  std::string_view rest() const { return source_.substr(position_); }

  /// How many bytes have been read.
  size_t position() const { return position_; }

  /// How many bytes have been written.
  size_t written() const { return written_.size(); }

  /// Copies the next `bytes`, whole characters, and returns the copy: ASCII may be changed there to other ASCII.
  char* keep(size_t bytes);

  /// Leaves the next `bytes` out.
  void remove(size_t bytes) { position_ += bytes; }

  /// Writes `with` in place of the next `bytes`: it came from the first character of them.
  void replace(size_t bytes, std::string_view with);

  /// Writes `texts[byte]` in place of each of the next `bytes`, which comes from the byte's character.
  void replace_bytes(size_t bytes, const std::array<std::string_view, 256>& texts);

  /// Writes `text` without reading: it came from the character read last, or from none at the start.
  void insert(std::string_view text);

  /// Writes `text` without reading: it comes from the character that is read next.
  void insert_before(std::string_view text) { append(text, target_.span_at(position_)); }

  /// Copies what has not been read and puts the result in place.
  void finish();

 private:
  void store_spans();
  void append(std::string_view text, Span span);

  NormalizedText& target_;
  std::string_view source_;
  size_t position_ = 0;
  std::string& written_;
  std::vector<Span>& spans_;
  bool same_places_;  // so far, each byte stands where it stood in the original
};

}  // namespace transformers::tokenizers
