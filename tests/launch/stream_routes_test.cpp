#include "accelerate/launch/settings/stream_routes.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

using namespace accelerate;
using accelerate::launch::StreamChoice;

TEST_CASE("one number is for all ranks") {
  for (int number = 0; number < 4; ++number) {
    StreamChoice choice("--tee", std::to_string(number));
    for (int rank : {0, 1, 63}) {
      CHECK(choice.output(rank) == (number == 1 || number == 3));
      CHECK(choice.errors(rank) == (number == 2 || number == 3));
    }
    CHECK(choice.any() == (number != 0));
  }
}

TEST_CASE("a list is for the ranks it names, with any number of digits") {
  StreamChoice choice("--redirects", "0:1,10:3,2:2");
  CHECK((choice.output(0) && !choice.errors(0)));
  CHECK((!choice.output(1) && !choice.errors(1)));
  CHECK((!choice.output(2) && choice.errors(2)));
  CHECK((choice.output(10) && choice.errors(10)));
}

TEST_CASE("anything else is refused") {
  for (auto text : {"", "4", "-1", "x", "0:", ":1", "0:4", "0-1", "0:1;1:2", "1.5", "a:1", "0:1,,"}) {
    CHECK_THROWS_WITH_AS(StreamChoice("--tee", text), doctest::Contains("--tee"), Error);
  }
}
