#include "accelerate/train/shares.h"

#include <doctest/doctest.h>

using namespace accelerate::train;

TEST_CASE("shares follow each other, leave nothing out and begin at multiples of 64") {
  for (int64_t num_elements : {0, 1, 63, 64, 65, 128, 1000, 4096, 90'001}) {
    for (int size : {1, 2, 3, 4, 7}) {
      CAPTURE(num_elements);
      CAPTURE(size);
      int64_t end = 0;
      for (int rank = 0; rank < size; ++rank) {
        const auto share = share_of(num_elements, rank, size);
        CHECK(share.begin == end);
        CHECK((share.length == 0 || share.begin % 64 == 0));
        CHECK(share.length <= share_of(num_elements, 0, size).length);
        end += share.length;
      }
      CHECK(end == num_elements);
      CHECK(share_of(num_elements, 0, size).length <= num_elements / size + 127);
    }
  }
}

TEST_CASE("rounds go through all shares, in portions that fit") {
  const std::vector<ShareSize> sizes = {{100, 4}, {0, 4}, {64, 8}, {1000, 2}};
  std::vector<int64_t> done(sizes.size(), 0);
  for (const auto& round : rounds_of(sizes, 1024)) {
    CHECK_FALSE(round.empty());
    int64_t bytes = 0;
    for (const auto& [tensor, stretch] : round) {
      CHECK(stretch.begin == done[tensor]);
      CHECK(stretch.begin % 64 == 0);
      CHECK(stretch.length > 0);
      done[tensor] += stretch.length;
      bytes += stretch.length * sizes[tensor].element_bytes;
    }
    CHECK(bytes <= 1024);
  }
  for (size_t i = 0; i < sizes.size(); ++i) CHECK(done[i] == sizes[i].length);
}

TEST_CASE("small shares go in one round, and a round holds at least 64 elements") {
  using Rounds = std::vector<std::vector<Portion>>;
  CHECK((rounds_of({{10, 4}, {20, 4}}, 1024) == Rounds{{{0, {0, 10}}, {1, {0, 20}}}}));
  CHECK((rounds_of({{70, 8}}, 8) == Rounds{{{0, {0, 64}}}, {{0, {64, 6}}}}));
  CHECK(rounds_of({}, 1024).empty());
}
