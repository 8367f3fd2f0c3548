#include "accelerate/base/byte_size.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "accelerate/base/error.h"

using namespace accelerate;

TEST_CASE("sizes are written and read as people do") {
  CHECK(format_bytes(0) == "0 bytes");
  CHECK(format_bytes(1023) == "1023 bytes");
  CHECK(format_bytes(1024) == "1.0 KB");
  CHECK(format_bytes(433249280) == "413.18 MB");
  CHECK(format_bytes(4.0 * 433249280) == "1.61 GB");
  CHECK(parse_bytes("5GB") == 5000000000);
  CHECK(parse_bytes("1.5 kb") == 1500);
  CHECK(parse_bytes("2GiB") == 2147483648);
  CHECK(parse_bytes("77") == 77);
  const std::vector<std::string> no_sizes = {
      "", "GB", "-1GB", "5XB", "0", "1e9", "99999999999999TB", std::string(400, '9')};
  for (const auto& text : no_sizes) {
    CHECK_THROWS_WITH_AS(parse_bytes(text), doctest::Contains("is not a size"), Error);
  }
}
