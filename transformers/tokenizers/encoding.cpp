#include "transformers/tokenizers/encoding.h"

#include <algorithm>

#include "accelerate/base/error.h"

namespace transformers::tokenizers {

namespace {

/// Calls `body` with the same member of two encodings, for each member that has a value for each token.
template <class Left, class Right, class Body>
void for_each_column(Left& left, Right& right, const Body& body) {
  body(left.ids, right.ids);
  body(left.type_ids, right.type_ids);
  body(left.offsets, right.offsets);
  body(left.word_ids, right.word_ids);
  body(left.sequence_ids, right.sequence_ids);
  body(left.special_tokens_mask, right.special_tokens_mask);
  body(left.attention_mask, right.attention_mask);
  body(left.spaces, right.spaces);
}

/// Inserts `count` equal tokens that stand for no text.
void insert_tokens(Encoding& encoding, size_t position, size_t count, uint32_t id, uint32_t type_id,
                   uint32_t attention) {
  auto insert = [&](auto& column, auto value) { column.insert(column.begin() + position, count, value); };
  insert(encoding.ids, id);
  insert(encoding.type_ids, type_id);
  insert(encoding.offsets, std::pair<uint32_t, uint32_t>(0, 0));
  insert(encoding.word_ids, kNone);
  insert(encoding.sequence_ids, kNone);
  insert(encoding.special_tokens_mask, 1u);
  insert(encoding.attention_mask, attention);
  if (!encoding.spaces.empty()) insert(encoding.spaces, Encoding::Spaces{});
}

void append_columns(Encoding& encoding, const Encoding& other) {
  for_each_column(encoding, other, [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); });
}

}  // namespace

void Encoding::reserve(size_t count) {
  for_each_column(*this, *this, [&](auto& column, auto&) { column.reserve(count); });
}

void Encoding::insert_special(size_t position, uint32_t id, uint32_t type_id) {
  insert_tokens(*this, position, 1, id, type_id, /*attention=*/1);
}

void Encoding::set_sequence(int32_t sequence) {
  sequence_ids.assign(size(), sequence);
  for (auto& window : overflowing) window.set_sequence(sequence);
}

void Encoding::set_type(uint32_t type_id) {
  type_ids.assign(size(), type_id);
  for (auto& window : overflowing) window.set_type(type_id);
}

void Encoding::append(const Encoding& other) {
  std::vector<Encoding> windows;
  auto combine = [&](const Encoding& left, const Encoding& right) {
    windows.push_back(left.slice(0, left.size()));
    append_columns(windows.back(), right);
  };
  for (const auto& window : overflowing) {
    combine(window, other);
    for (const auto& other_window : other.overflowing) combine(window, other_window);
  }
  for (const auto& other_window : other.overflowing) combine(*this, other_window);
  append_columns(*this, other);
  overflowing = std::move(windows);
}

Encoding Encoding::slice(size_t begin, size_t end) const {
  Encoding part;
  for_each_column(part, *this, [&](auto& to, const auto& from) {
    if (!from.empty()) to.assign(from.begin() + begin, from.begin() + end);
  });
  return part;
}

void Encoding::truncate(size_t max_length, size_t stride, Direction direction) {
  if (size() <= max_length) return;
  if (max_length == 0) {
    Encoding all = std::move(*this);
    *this = {};
    overflowing.push_back(std::move(all));
    return;
  }
  if (stride >= max_length) {
    accelerate::fail("truncation: the stride is ", stride, ", but windows have ", max_length,
                     " tokens beside the special ones; it must be smaller");
  }
  std::vector<Encoding> windows;
  size_t step = max_length - stride, total = size();
  for (size_t skipped = 0;; skipped += step) {
    size_t length = std::min(max_length, total - skipped);
    size_t begin = direction == Direction::Right ? skipped : total - skipped - length;
    windows.push_back(slice(begin, begin + length));
    if (skipped + length == total) break;
  }
  *this = std::move(windows.front());
  overflowing.assign(std::make_move_iterator(windows.begin() + 1), std::make_move_iterator(windows.end()));
}

void Encoding::pad(size_t length, uint32_t pad_id, uint32_t pad_type_id, Direction direction) {
  for (auto& window : overflowing) window.pad(length, pad_id, pad_type_id, direction);
  if (size() >= length) return;
  size_t position = direction == Direction::Right ? size() : 0;
  insert_tokens(*this, position, length - size(), pad_id, pad_type_id, /*attention=*/0);
}

}  // namespace transformers::tokenizers
