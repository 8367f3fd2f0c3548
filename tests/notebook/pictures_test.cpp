#include <zlib.h>

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "notebook/runtime/base64.h"
#include "notebook/runtime/line_plot.h"
#include "notebook/runtime/png.h"

using namespace accelerate::notebook;

TEST_CASE("base64 has the values of its standard") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe") == "//4=");
}

TEST_CASE("A PNG file holds the pixels that it was made of") {
  auto file = encode_png({.width = 2, .height = 2, .channels = 3, .bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
  CHECK(file.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(file.substr(12, 4) == "IHDR");
  CHECK(file[19] == 2);  // width
  auto data = file.find("IDAT");
  REQUIRE(data != std::string::npos);
  std::string rows(14, '\0');
  uLongf size = rows.size();
  int status = uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                          reinterpret_cast<const Bytef*>(file.data() + data + 4), file.size() - data - 4);
  CHECK(status == Z_OK);
  CHECK(rows == std::string("\0\1\2\3\4\5\6\0\7\10\11\12\13\14", 14));
  CHECK(file.ends_with("IEND\xae\x42\x60\x82"));
}

TEST_CASE("A picture whose bytes do not fit its size is an error") {
  CHECK_THROWS_WITH_AS(encode_png({.width = 2, .height = 2, .channels = 2, .bytes = {}}),
                       doctest::Contains("2 channels"), accelerate::Error);
  CHECK_THROWS_AS(encode_png({.width = 2, .height = 2, .channels = 1, .bytes = {1, 2, 3}}), accelerate::Error);
}

TEST_CASE("Ticks are round numbers within the range") {
  CHECK(round_ticks(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(round_ticks(-1, 1, 4).size() == 5);
  CHECK(round_ticks(3, 3.5, 5).front() == doctest::Approx(3));
  CHECK(round_ticks(0, 1e-3, 5).back() == doctest::Approx(1e-3));
  CHECK(round_ticks(1e16, 1e16 + 4, 5).size() > 1);
}

TEST_CASE("A range that has no length, or none that can be divided, has one tick") {
  CHECK(round_ticks(3, 3, 5) == std::vector<double>{3});
  CHECK(round_ticks(1e300, 1e300, 5) == std::vector<double>{1e300});
  CHECK(round_ticks(0, 5e-324, 5) == std::vector<double>{0});
}

TEST_CASE("A plot has a line for each series, interrupted where a value is not finite") {
  auto svg =
      line_plot({{.name = "train", .y = {3, 2, 1}}, {.name = "a<b", .y = {1, NAN, 2}}}, {.title = "loss & more"});
  auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = 0; (at = svg.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(count("<polyline") == 3);
  CHECK(count("loss &amp; more") == 1);
  CHECK(count("a&lt;b") == 1);
  CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("A line is interrupted where x is not finite too") {
  auto svg = line_plot({{.y = {1, 2, 3, 4}, .x = {0, 1, INFINITY, 3}}});
  CHECK(svg.find("<polyline") != svg.rfind("<polyline"));
  CHECK(svg.find("inf") == std::string::npos);
}

TEST_CASE("A constant curve lies in the middle, however large its value is") {
  for (double value : {0.0, 5.0, -1e6, 1e16, -1e300}) {
    CAPTURE(value);
    auto svg = line_plot({{.y = {value, value}}}, {.height = 284});  // the axis goes from 36 to 236
    CHECK(svg.find("64.00,136.00 624.00,136.00") != std::string::npos);
  }
}

TEST_CASE("A plot without values has axes all the same") {
  CHECK(line_plot({}).find("<line") != std::string::npos);
  CHECK(line_plot({{.y = {5}}}).find("nan") == std::string::npos);
  CHECK_THROWS_WITH_AS(line_plot({{.name = "loss", .y = {1, 2}, .x = {1}}}),
                       doctest::Contains("'loss' has 1 values of x"), accelerate::Error);
}
