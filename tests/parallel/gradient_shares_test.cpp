#include "accelerate/parallel/gradient_shares.h"

#include <doctest/doctest.h>

using accelerate::parallel::ByteRange;
using accelerate::parallel::pages_between;

TEST_CASE("whole pages are given back where nothing of them is kept") {
  using Ranges = std::vector<ByteRange>;
  CHECK((pages_between({}, 0, 10) == Ranges{}));
  CHECK((pages_between({}, 9, 10) == Ranges{}));
  CHECK((pages_between({}, 35, 10) == Ranges{{0, 30}}));
  CHECK((pages_between({{0, 35}}, 35, 10) == Ranges{}));
  CHECK((pages_between({{0, 1}}, 35, 10) == Ranges{{10, 30}}));
  CHECK((pages_between({{10, 20}}, 40, 10) == Ranges{{0, 10}, {20, 40}}));
  CHECK((pages_between({{9, 21}}, 40, 10) == Ranges{{30, 40}}));
  // Between two that are kept, and none where they meet.
  CHECK((pages_between({{5, 15}, {15, 25}, {45, 50}}, 80, 10) == Ranges{{30, 40}, {50, 80}}));
}
