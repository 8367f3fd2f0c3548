#include "transformers/tokenizers/encoding.h"

#include <algorithm>
#include <cassert>

#include "accelerate/base/error.h"

namespace transformers::tokenizers {

namespace {

/// Calls `body` with each column of two encodings, except sequence_ids, which is derived from sequence_ranges.
template <class Left, class Right, class Body>
void for_each_column(Left& left, Right& right, const Body& body) {
  body(left.ids, right.ids);
  body(left.type_ids, right.type_ids);
  body(left.offsets, right.offsets);
  body(left.word_ids, right.word_ids);
  body(left.special_tokens_mask, right.special_tokens_mask);
  body(left.attention_mask, right.attention_mask);
  body(left.spaces, right.spaces);
}

[[maybe_unused]] bool has_equal_columns(const Encoding& encoding) {
  bool equal = encoding.sequence_ids.size() == encoding.size();
  for_each_column(encoding, encoding,
                  [&](const auto& column, const auto&) { equal &= column.size() == encoding.size(); });
  return equal;
}

}  // namespace

Encoding Encoding::of_text(size_t count, uint32_t type_id) {
  Encoding encoding;
  for_each_column(encoding, encoding, [&](auto& column, auto&) { column.resize(count); });
  encoding.type_ids.assign(count, type_id);
  encoding.attention_mask.assign(count, 1);
  encoding.number_sequences();
  return encoding;
}

/// Inserts `count` equal tokens without text.
void Encoding::insert_tokens(size_t position, size_t count, uint32_t id, uint32_t type_id, uint32_t attention) {
  assert(has_equal_columns(*this) && position <= size());
  auto insert = [&](auto& column, auto value) {
    column.insert(column.begin() + static_cast<std::ptrdiff_t>(position), count, value);
  };
  insert(ids, id);
  insert(type_ids, type_id);
  insert(offsets, std::pair<uint32_t, uint32_t>(0, 0));
  insert(word_ids, kNone);
  insert(special_tokens_mask, 1u);
  insert(attention_mask, attention);
  insert(spaces, Spaces{});
  for (auto& range : sequence_ranges) {
    if (range && range->begin >= position) range = Range{range->begin + count, range->end + count};
  }
  number_sequences();
}

/// Appends the tokens of `other`, but not its windows.
void Encoding::append_tokens(const Encoding& other) {
  assert(has_equal_columns(*this) && has_equal_columns(other));
  for (size_t sequence = 0; sequence < sequence_ranges.size(); ++sequence) {
    const auto& range = other.sequence_ranges[sequence];
    if (range) sequence_ranges[sequence] = Range{size() + range->begin, size() + range->end};
  }
  for_each_column(*this, other, [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); });
  number_sequences();
}

/// Derives sequence_ids from sequence_ranges. As in the `tokenizers` package, the first n texts are used, where n is
/// the number of ranges (at least 1), and a text without a range covers all tokens.
void Encoding::number_sequences() {
  sequence_ids.assign(size(), kNone);
  auto known = std::count_if(sequence_ranges.begin(), sequence_ranges.end(), [](auto& range) { return bool(range); });
  for (std::ptrdiff_t sequence = 0; sequence < std::max<std::ptrdiff_t>(known, 1); ++sequence) {
    auto [begin, end] = sequence_ranges[static_cast<size_t>(sequence)].value_or(Range{0, size()});
    std::fill(sequence_ids.begin() + static_cast<std::ptrdiff_t>(begin),
              sequence_ids.begin() + static_cast<std::ptrdiff_t>(end), static_cast<int32_t>(sequence));
  }
  assert(has_equal_columns(*this));
}

void Encoding::insert_special(size_t position, uint32_t id, uint32_t type_id) {
  insert_tokens(position, 1, id, type_id, /*attention=*/1);
}

void Encoding::set_sequence(size_t sequence) {
  sequence_ranges[sequence] = Range{0, size()};
  number_sequences();
}

void Encoding::set_type(uint32_t type_id) { type_ids.assign(size(), type_id); }

void Encoding::append(const Encoding& other) {
  std::vector<Encoding> windows;
  auto combine = [&](Encoding left, const Encoding& right) {
    left.append(right);
    windows.push_back(std::move(left));
  };
  for (const auto& window : overflowing) {
    combine(window, other);
    for (const auto& other_window : other.overflowing) combine(window, other_window);
  }
  for (const auto& other_window : other.overflowing) combine(*this, other_window);
  append_tokens(other);
  overflowing = std::move(windows);
}

Encoding Encoding::slice(size_t begin, size_t end) const {
  assert(has_equal_columns(*this) && begin <= end && end <= size());
  Encoding part;
  for_each_column(part, *this, [&](auto& to, const auto& from) {
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end));
  });
  part.number_sequences();
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
                     " tokens in addition to the special ones; it must be smaller");
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
  insert_tokens(position, length - size(), pad_id, pad_type_id, /*attention=*/0);
}

}  // namespace transformers::tokenizers
