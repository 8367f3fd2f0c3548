#include "accelerate/tracking/value.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace accelerate::tracking;

TEST_CASE("numbers are written as Python's json module writes them") {
  CHECK(to_json(1) == "1");
  CHECK(to_json(int64_t{-9223372036854775807}) == "-9223372036854775807");
  CHECK(to_json(1.0) == "1.0");
  CHECK(to_json(0.1) == "0.1");
  CHECK(to_json(1e-5) == "1.0e-05");
  CHECK(to_json(1.5e300) == "1.5e+300");
  CHECK(to_json(true) == "true");
  CHECK(to_json(0.1f) == "0.10000000149011612");
}

TEST_CASE("what JSON has no number for is written as Python's words") {
  CHECK(to_json(NAN) == "NaN");
  CHECK(to_json(INFINITY) == "Infinity");
  CHECK(to_json(-INFINITY) == "-Infinity");
  CHECK(to_text(NAN) == "nan");
  CHECK(to_text(-INFINITY) == "-inf");
}

TEST_CASE("texts are escaped, and bytes that are no UTF-8 do not break the line") {
  CHECK(to_json("a \"b\"\n\\") == R"("a \"b\"\n\\")");
  CHECK(to_json("sch\xc3\xb6n") == "\"sch\xc3\xb6n\"");
  CHECK(to_json("\xff") == "\"\xef\xbf\xbd\"");
  CHECK(to_text("a \"b\"") == "a \"b\"");
  CHECK(to_text(true) == "True");
}

TEST_CASE("maps keep the order they were written in") {
  Values values = {{"b", 1}, {"a", {{"y", 0.5}, {"x", "word"}}}};
  CHECK(to_json(values) == R"({"b": 1, "a": {"y": 0.5, "x": "word"}})");
  CHECK(to_json(Values{}) == "{}");
}

TEST_CASE("flatten joins the names of maps in maps") {
  CHECK(flatten({{"a", 1}, {"b", {{"c", 2}, {"d", {{"e", 3}}}}}}) == Values{{"a", 1}, {"b/c", 2}, {"b/d/e", 3}});
  CHECK(flatten({{"empty", Values{}}}).empty());
}

TEST_CASE("truth values and numbers are numbers, texts and maps are not") {
  CHECK(number_of(true) == 1.0);
  CHECK(number_of(3) == 3.0);
  CHECK(number_of(0.25f) == 0.25);
  CHECK_FALSE(number_of("3"));
  CHECK_FALSE(number_of(Values{}));
}
