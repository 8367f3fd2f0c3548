#include "accelerate/base/text.h"

#include <doctest/doctest.h>

using accelerate::nearest_name;

TEST_CASE("the nearest name is at most two letters off") {
  std::vector<std::string> names = {"launch", "config", "env"};
  CHECK(nearest_name("lanch", names) == "launch");
  CHECK(nearest_name("launhc", names) == "launch");
  CHECK(nearest_name("cofnig", names) == "config");
  CHECK(nearest_name("launch", names) == "launch");
  CHECK(nearest_name("train_model", names) == "");
  CHECK(nearest_name("x", {}) == "");
}
