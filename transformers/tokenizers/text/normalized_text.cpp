#include "transformers/tokenizers/text/normalized_text.h"

#include "accelerate/base/utf8.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::is_utf8_continuation;

void NormalizedText::reset(std::string_view original, uint32_t begin) {
  text_ = original;
  spans_.clear();
  begin_ = begin;
}

void NormalizedText::append(const NormalizedText& part) {
  if (spans_.empty() && text_.data() != storage_.data()) storage_ = text_;
  if (spans_.size() < text_.size()) {
    for (size_t index = 0; index < text_.size(); ++index) next_spans_.push_back(span_at(index));
    spans_.swap(next_spans_);
  }
  for (size_t index = 0; index < part.text_.size(); ++index) spans_.push_back(part.span_at(index));
  storage_.append(part.text_);
  text_ = storage_;
}

Span NormalizedText::span_at(size_t position) const {
  if (!spans_.empty()) return spans_[position];
  size_t first = position;
  while (is_utf8_continuation(text_[first])) --first;
  return {static_cast<uint32_t>(begin_ + first), static_cast<uint32_t>(begin_ + first + character_bytes(text_[first]))};
}

Span NormalizedText::origin(size_t begin, size_t end) const {
  if (!spans_.empty()) return {spans_[begin].begin, spans_[end - 1].end};
  while (is_utf8_continuation(text_[begin])) --begin;
  while (end < text_.size() && is_utf8_continuation(text_[end])) ++end;
  return {static_cast<uint32_t>(begin_ + begin), static_cast<uint32_t>(begin_ + end)};
}

Rewrite::Rewrite(NormalizedText& text)
    : target_(text),
      source_(text.text_),
      written_(text.next_storage_),
      spans_(text.next_spans_),
      same_places_(text.spans_.empty()) {
  written_.clear();
  spans_.clear();
}

char* Rewrite::keep(size_t bytes) {
  if (same_places_ && written_.size() != position_) store_spans();
  if (!same_places_) {
    for (size_t index = position_; index < position_ + bytes; ++index) spans_.push_back(target_.span_at(index));
  }
  written_.append(source_.substr(position_, bytes));
  position_ += bytes;
  return written_.data() + written_.size() - bytes;
}

void Rewrite::replace(size_t bytes, std::string_view with) {
  bool in_place = with.size() == bytes && written_.size() == position_ && character_bytes(with[0]) == bytes &&
                  character_bytes(source_[position_]) == bytes;
  if (same_places_ && in_place) {
    written_.append(with);
  } else {
    append(with, target_.span_at(position_));
  }
  position_ += bytes;
}

void Rewrite::replace_bytes(size_t bytes, const std::array<std::string_view, 256>& texts) {
  if (same_places_) store_spans();
  for (size_t end = position_ + bytes; position_ < end; ++position_) {
    std::string_view text = texts[static_cast<unsigned char>(source_[position_])];
    written_.append(text);
    spans_.insert(spans_.end(), text.size(), target_.span_at(position_));
  }
}

void Rewrite::insert(std::string_view text) {
  append(text, position_ == 0 ? Span{target_.begin_, target_.begin_} : target_.span_at(position_ - 1));
}

void Rewrite::finish() {
  if (!done()) keep(source_.size() - position_);
  target_.storage_.swap(written_);
  target_.spans_.swap(spans_);
  target_.text_ = target_.storage_;
}

void Rewrite::append(std::string_view text, Span span) {
  if (same_places_) store_spans();
  written_.append(text);
  spans_.insert(spans_.end(), text.size(), span);
}

void Rewrite::store_spans() {
  same_places_ = false;
  spans_.reserve(source_.size() + source_.size() / 8);
  for (size_t index = 0; index < written_.size(); ++index) spans_.push_back(target_.span_at(index));
}

}  // namespace transformers::tokenizers
