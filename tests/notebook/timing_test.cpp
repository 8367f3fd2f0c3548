#include "notebook/runtime/timing.h"

#include <doctest/doctest.h>

using namespace accelerate::notebook;

TEST_CASE("Durations have the unit that fits") {
  CHECK(duration_text(1.234) == "1.23 s");
  CHECK(duration_text(0.0123) == "12.3 ms");
  CHECK(duration_text(4.56e-6) == "4.56 us");
  CHECK(duration_text(78.9e-9) == "78.9 ns");
  CHECK(duration_text(0) == "0 ns");
}

TEST_CASE("Timing tells the mean of the runs and how much they differ") {
  CHECK(timing_text({1, 3}, 10) == "2 s +- 1 s per call (2 runs of 10 calls)");
  CHECK(timing_text({1}, 1) == "1 s +- 0 ns per call (1 run of 1 call)");
}
