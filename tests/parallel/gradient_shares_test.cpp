#include "accelerate/parallel/gradient_shares.h"

#include <doctest/doctest.h>

using accelerate::parallel::pages_between;
using accelerate::shared_memory::Range;

TEST_CASE("whole pages are given back where nothing of them is kept") {
  using Ranges = std::vector<Range>;
  CHECK((pages_between({}, 0, 10) == Ranges{}));
  CHECK((pages_between({}, 9, 10) == Ranges{}));
  CHECK((pages_between({}, 35, 10) == Ranges{{0, 30}}));
  CHECK((pages_between({{0, 35}}, 35, 10) == Ranges{}));
  CHECK((pages_between({{0, 1}}, 35, 10) == Ranges{{10, 20}}));
  CHECK((pages_between({{10, 10}}, 40, 10) == Ranges{{0, 10}, {20, 20}}));
  CHECK((pages_between({{9, 12}}, 40, 10) == Ranges{{30, 10}}));
  // Between two that are kept, and none where they meet.
  CHECK((pages_between({{5, 10}, {15, 10}, {45, 5}}, 80, 10) == Ranges{{30, 10}, {50, 30}}));
}
