#include "accelerate/base/environment.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "accelerate/base/error.h"

using namespace accelerate;

TEST_CASE("a flag is any of six words for true and six for false, in any case") {
  for (auto text : {"y", "yes", "t", "true", "on", "1", "True", "YES"}) CHECK(parse_flag(text));
  for (auto text : {"n", "no", "f", "false", "off", "0", "False", "OFF"}) CHECK_FALSE(parse_flag(text));
  CHECK_THROWS_WITH_AS(parse_flag("maybe"), doctest::Contains("'maybe'"), Error);
  CHECK_THROWS_AS(parse_flag(""), Error);
  CHECK_THROWS_AS(parse_flag("2"), Error);
}

TEST_CASE("a flag variable that is unset or empty has its fallback, and a bad one is named") {
  PatchEnvironment patch{{"A_FLAG", std::nullopt}};
  CHECK(environment_flag("A_FLAG", true));
  CHECK_FALSE(environment_flag("A_FLAG"));
  setenv("A_FLAG", "", 1);
  CHECK(environment_flag("A_FLAG", true));
  setenv("A_FLAG", "off", 1);
  CHECK_FALSE(environment_flag("A_FLAG", true));
  setenv("A_FLAG", "maybe", 1);
  CHECK_THROWS_WITH_AS(environment_flag("A_FLAG"), doctest::Contains("A_FLAG is 'maybe'"), Error);
}

TEST_CASE("an integer comes from the first variable that is set") {
  PatchEnvironment patch{{"FIRST", std::nullopt}, {"SECOND", std::nullopt}, {"THIRD", "-7"}};
  CHECK(environment_integer({"FIRST", "SECOND"}) == std::nullopt);
  CHECK(environment_integer({"FIRST", "SECOND", "THIRD"}) == -7);
  setenv("SECOND", "12", 1);
  CHECK(environment_integer({"FIRST", "SECOND", "THIRD"}) == 12);
  setenv("FIRST", "", 1);
  CHECK(environment_integer({"FIRST", "SECOND"}) == 12);
}

TEST_CASE("text that is not a whole number is an error naming the variable and its value") {
  for (auto text : {"two", "2x", "1.5", " 1", "99999999999999999999"}) {
    PatchEnvironment patch{{"NUMBER", text}};
    CHECK_THROWS_WITH_AS(environment_integer({"NUMBER"}), doctest::Contains("NUMBER is '"), Error);
    CHECK_THROWS_WITH_AS(environment_integer({"NUMBER"}), doctest::Contains(text), Error);
  }
}

TEST_CASE("a patched environment is restored when the scope ends, also by an exception") {
  setenv("KEPT", "before", 1);
  unsetenv("NEW");
  auto leave_early = [] {
    PatchEnvironment patch{{"KEPT", "inside"}, {"KEPT", std::nullopt}, {"NEW", "value"}};
    CHECK(environment_variable("KEPT") == std::nullopt);
    CHECK(environment_variable("NEW") == "value");
    fail("leaving early");
  };
  CHECK_THROWS_AS(leave_early(), Error);
  CHECK(environment_variable("KEPT") == "before");
  CHECK(environment_variable("NEW") == std::nullopt);
  unsetenv("KEPT");
}
