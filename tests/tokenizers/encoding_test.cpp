// How encodings are cut, filled and joined.

#include "transformers/tokenizers/encoding.h"

#include <doctest/doctest.h>

#include <set>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/length_options.h"

using namespace transformers::tokenizers;

namespace {

using Ids = std::vector<uint32_t>;

/// Tokens 1, 2, ..., each one character long.
Encoding counting(uint32_t count) {
  Encoding encoding;
  for (uint32_t id = 1; id <= count; ++id) {
    encoding.insert_special(encoding.size(), id, 0);
    encoding.offsets.back() = {id - 1, id};
  }
  encoding.set_sequence(0);
  return encoding;
}

/// The lengths of all columns, each once: one number when they are equal.
std::set<size_t> column_lengths(const Encoding& encoding) {
  return {encoding.ids.size(),      encoding.type_ids.size(),      encoding.offsets.size(),
          encoding.word_ids.size(), encoding.sequence_ids.size(),  encoding.special_tokens_mask.size(),
          encoding.spaces.size(),   encoding.attention_mask.size()};
}

std::vector<size_t> lengths_after(size_t first, size_t second, size_t max_length, TruncationStrategy strategy) {
  std::vector<Encoding> encodings = {counting(first), counting(second)};
  truncate(encodings, {.max_length = max_length, .strategy = strategy});
  return {encodings[0].size(), encodings[1].size()};
}

}  // namespace

TEST_CASE("truncation leaves windows that share the stride") {
  Encoding encoding = counting(7);
  encoding.truncate(3, 1, Direction::Right);
  CHECK(encoding.ids == Ids{1, 2, 3});
  REQUIRE(encoding.overflowing.size() == 2);
  CHECK(encoding.overflowing[0].ids == Ids{3, 4, 5});
  CHECK(encoding.overflowing[1].ids == Ids{5, 6, 7});
  CHECK(encoding.overflowing[1].offsets.front() == std::pair<uint32_t, uint32_t>(4, 5));
}

TEST_CASE("truncation on the left keeps the end") {
  Encoding encoding = counting(6);
  encoding.truncate(4, 0, Direction::Left);
  CHECK(encoding.ids == Ids{3, 4, 5, 6});
  REQUIRE(encoding.overflowing.size() == 1);
  CHECK(encoding.overflowing[0].ids == Ids{1, 2});
}

TEST_CASE("truncation to nothing moves all tokens to one window") {
  Encoding encoding = counting(3);
  encoding.truncate(0, 0, Direction::Right);
  CHECK(encoding.size() == 0);
  REQUIRE(encoding.overflowing.size() == 1);
  CHECK(encoding.overflowing[0].size() == 3);
}

TEST_CASE("a stride as long as the window is an error") {
  Encoding encoding = counting(5);
  CHECK_THROWS_WITH_AS(encoding.truncate(2, 2, Direction::Right), doctest::Contains("the stride is 2"),
                       accelerate::Error);
}

TEST_CASE("the longer text of a pair is cut first, then both to a half") {
  using enum TruncationStrategy;
  CHECK(lengths_after(3, 9, 8, LongestFirst) == std::vector<size_t>{3, 5});
  CHECK(lengths_after(9, 3, 8, LongestFirst) == std::vector<size_t>{5, 3});
  CHECK(lengths_after(9, 8, 7, LongestFirst) == std::vector<size_t>{4, 3});
  CHECK(lengths_after(8, 9, 7, LongestFirst) == std::vector<size_t>{3, 4});
  CHECK(lengths_after(2, 2, 4, LongestFirst) == std::vector<size_t>{2, 2});
}

TEST_CASE("only the chosen text of a pair is cut, unless that cannot suffice") {
  using enum TruncationStrategy;
  CHECK(lengths_after(5, 4, 7, OnlyFirst) == std::vector<size_t>{3, 4});
  CHECK(lengths_after(5, 4, 7, OnlySecond) == std::vector<size_t>{5, 2});
  CHECK_THROWS_AS(lengths_after(5, 4, 4, OnlyFirst), accelerate::Error);
}

TEST_CASE("padding makes a batch as long as its longest text, or a multiple") {
  std::vector<Encoding> batch = {counting(2), counting(5)};
  pad(batch, {.pad_to_multiple_of = 4, .pad_id = 9, .pad_type_id = 3, .direction = Direction::Left});
  CHECK(batch[0].ids == Ids{9, 9, 9, 9, 9, 9, 1, 2});
  CHECK(batch[0].attention_mask == Ids{0, 0, 0, 0, 0, 0, 1, 1});
  CHECK(batch[0].type_ids.front() == 3);
  CHECK(batch[0].word_ids.front() == kNone);
  CHECK(batch[1].size() == 8);
}

TEST_CASE("padding fills the windows of overflowing, too") {
  std::vector<Encoding> batch = {counting(5)};
  batch[0].truncate(3, 0, Direction::Right);
  pad(batch, {.length = 4});
  CHECK(batch[0].ids == Ids{1, 2, 3, 0});
  CHECK(batch[0].overflowing[0].ids == Ids{4, 5, 0, 0});
}

TEST_CASE("appending combines each window of one text with each of the other") {
  Encoding first = counting(4), second = counting(2);
  first.truncate(2, 0, Direction::Right);
  second.truncate(1, 0, Direction::Right);
  first.append(second);
  CHECK(first.ids == Ids{1, 2, 1});
  REQUIRE(first.overflowing.size() == 3);
  CHECK(first.overflowing[0].ids == Ids{3, 4, 1});
  CHECK(first.overflowing[1].ids == Ids{3, 4, 2});
  CHECK(first.overflowing[2].ids == Ids{1, 2, 2});
}

TEST_CASE("every column has one value for each token, also after a text without any") {
  for (uint32_t first : {0u, 1u, 5u}) {
    for (uint32_t second : {0u, 3u}) {
      CAPTURE(first);
      CAPTURE(second);
      Encoding left = counting(first), right = counting(second);
      left.truncate(2, 0, Direction::Right);
      right.truncate(0, 0, Direction::Right);
      left.insert_special(0, 7, 0);
      left.append(right);
      left.insert_special(left.size(), 7, 0);
      left.pad(9, 0, 0, Direction::Left);
      left.pad(12, 0, 0, Direction::Right);
      CHECK(column_lengths(left) == std::set<size_t>{12});
      for (const auto& window : left.overflowing) CHECK(column_lengths(window) == std::set<size_t>{12});
    }
  }
  CHECK(column_lengths(Encoding::of_text(3, 1)) == std::set<size_t>{3});
  CHECK(column_lengths(counting(4).slice(1, 3)) == std::set<size_t>{2});
}

TEST_CASE("a window that meets an encoding with windows has windows of its own") {
  Encoding first = counting(4), second = counting(2);
  first.truncate(2, 0, Direction::Right);
  second.truncate(1, 0, Direction::Right);
  first.append(second);
  REQUIRE(first.overflowing.size() == 3);
  REQUIRE(first.overflowing[0].overflowing.size() == 1);
  CHECK(first.overflowing[0].overflowing[0].ids == Ids{3, 4, 2});
  CHECK(first.overflowing[1].overflowing.empty());
  REQUIRE(first.overflowing[2].overflowing.size() == 1);
  CHECK(first.overflowing[2].overflowing[0].ids == Ids{3, 4, 2});
}

TEST_CASE("the texts of a pair keep their tokens through special tokens and padding") {
  using Sequences = std::vector<int32_t>;
  Encoding first = counting(2), second = counting(1);
  second.set_sequence(1);
  second.sequence_ranges[0].reset();
  first.insert_special(0, 7, 0);
  first.append(second);
  first.pad(5, 0, 0, Direction::Left);
  first.pad(6, 0, 0, Direction::Right);
  CHECK(first.sequence_ids == Sequences{-1, -1, 0, 0, 1, -1});

  Encoding unnumbered = Encoding::of_text(2, 0);
  unnumbered.pad(3, 0, 0, Direction::Right);
  CHECK(unnumbered.sequence_ids == Sequences{0, 0, 0});
}
