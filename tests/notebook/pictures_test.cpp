#include <zlib.h>

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "notebook/runtime/drawing.h"
#include "notebook/runtime/line_plot.h"
#include "notebook/runtime/png.h"

using namespace accelerate::notebook;

namespace {

Color pixel(const Bitmap& picture, int x, int y) {
  const auto* bytes = picture.bytes.data() + (y * picture.width + x) * 3;
  return {bytes[0], bytes[1], bytes[2]};
}

bool same_color(const Color& a, const Color& b) { return a.red == b.red && a.green == b.green && a.blue == b.blue; }

/// The pixels of a part of the picture that are not white.
int num_drawn(const Bitmap& picture, int left, int top, int right, int bottom) {
  int count = 0;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) count += same_color(pixel(picture, x, y), {255, 255, 255}) ? 0 : 1;
  }
  return count;
}

}  // namespace

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
  auto text =
      svg(line_plot({{.name = "train", .y = {3, 2, 1}}, {.name = "a<b", .y = {1, NAN, 2}}}, {.title = "loss & more"}));
  auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(count("<polyline") == 3);
  CHECK(count("loss &amp; more") == 1);
  CHECK(count("a&lt;b") == 1);
  CHECK(text.ends_with("</svg>\n"));
}

TEST_CASE("A line is interrupted where x is not finite too") {
  auto text = svg(line_plot({{.y = {1, 2, 3, 4}, .x = {0, 1, INFINITY, 3}}}));
  CHECK(text.find("<polyline") != text.rfind("<polyline"));
  CHECK(text.find("inf") == std::string::npos);
}

TEST_CASE("A constant curve lies in the middle, however large its value is") {
  for (double value : {0.0, 5.0, -1e6, 1e16, -1e300}) {
    CAPTURE(value);
    auto text = svg(line_plot({{.y = {value, value}}}, {.height = 284}));  // the axis goes from 36 to 236
    CHECK(text.find("64.00,136.00 624.00,136.00") != std::string::npos);
  }
}

TEST_CASE("A plot without values has axes all the same") {
  CHECK(svg(line_plot({})).find("<line") != std::string::npos);
  CHECK(svg(line_plot({{.y = {5}}})).find("nan") == std::string::npos);
  CHECK_THROWS_WITH_AS(line_plot({{.name = "loss", .y = {1, 2}, .x = {1}}}),
                       doctest::Contains("'loss' has 1 values of x"), accelerate::Error);
}

TEST_CASE("A line is drawn in its color where it is, and nowhere else") {
  const Color blue = {0, 0, 200};
  auto picture = rasterized({.width = 40, .height = 20, .lines = {{{5, 10}, {30, 10}, blue}}});
  CHECK(picture.bytes.size() == 40 * 20 * 3);
  CHECK(same_color(pixel(picture, 5, 10), blue));
  CHECK(same_color(pixel(picture, 30, 10), blue));
  CHECK(num_drawn(picture, 0, 0, 40, 10) == 0);
  CHECK(num_drawn(picture, 0, 11, 40, 20) == 0);
}

TEST_CASE("A curve has smooth edges and goes through its points") {
  auto picture = rasterized({.width = 40, .height = 40, .curves = {{{{4, 4}, {20, 36}, {36, 4}}, {200, 0, 0}}}});
  CHECK(pixel(picture, 20, 35).green < 100);
  CHECK(pixel(picture, 12, 20).green < 100);  // half way
  CHECK(pixel(picture, 20, 10).green == 255);
  bool any_between = false;
  for (int x = 0; x < 40; ++x) any_between |= pixel(picture, x, 20).green > 0 && pixel(picture, x, 20).green < 255;
  CHECK(any_between);
}

TEST_CASE("What lies outside of a picture is cut off, and a point alone is a dot") {
  auto picture = rasterized({.width = 10, .height = 10, .lines = {{{-50, -50}, {60, 60}, {}}}});
  CHECK(num_drawn(picture, 0, 0, 10, 10) > 10);
  CHECK(num_drawn(rasterized({.width = 10, .height = 10, .lines = {{{20, 20}, {30, 25}, {}}}}), 0, 0, 10, 10) == 0);
  CHECK(num_drawn(rasterized({.width = 10, .height = 10, .curves = {{{{5, 5}}, {}}}}), 3, 3, 7, 7) > 2);
  CHECK(svg({.width = 10, .height = 10, .curves = {{{{5, 5}}, {}}}}).find("5.00,5.00 5.00,5.00") != std::string::npos);
}

TEST_CASE("Words stand where their anchor says, and are read upwards beside an axis") {
  auto drawn = [](Label label) {
    label.place = {50, 50};
    return rasterized({.width = 100, .height = 100, .labels = {label}});
  };
  auto start = drawn({.words = "loss"});
  CHECK(num_drawn(start, 49, 40, 100, 52) > 30);
  CHECK(num_drawn(start, 0, 0, 49, 100) == 0);
  CHECK(num_drawn(drawn({.words = "loss", .anchor = Anchor::End}), 52, 0, 100, 100) == 0);
  CHECK(num_drawn(drawn({.words = "loss", .upwards = true}), 0, 52, 100, 100) == 0);
  CHECK(num_drawn(drawn({.words = " "}), 0, 0, 100, 100) == 0);
}

TEST_CASE("Every letter has lines within its line of text, and other characters are boxes") {
  for (char c = '!'; c <= '~'; ++c) {
    CAPTURE(c);
    auto strokes = strokes_of({.words = std::string(1, c), .font_size = 100});
    REQUIRE_FALSE(strokes.empty());
    for (const auto& stroke : strokes) {
      REQUIRE_FALSE(stroke.empty());
      for (const auto& point : stroke) {
        CHECK(point.x >= 0);
        CHECK(point.x < 61);
        CHECK(point.y >= -75);
        CHECK(point.y <= 25);
      }
    }
  }
  CHECK(strokes_of({.words = "\u00e4\u4e2d"}).size() == 2);
}

TEST_CASE("A plot as pixels shows its curves in the colors of its legend") {
  auto picture = rasterized(line_plot({{.name = "one", .y = {0, 1}}, {.name = "two", .y = {1, 0}}}));
  CHECK(picture.width == 640);
  CHECK(picture.height == 360);
  CHECK(same_color(pixel(picture, 64, 180), {0, 0, 0}));           // the axis
  CHECK(same_color(pixel(picture, 500, 46), {0x1f, 0x77, 0xb4}));  // of the legend
  CHECK(pixel(picture, 64 + 140, 36 + 207).red < 0x60);            // a quarter of the way up
  CHECK(same_color(pixel(picture, 64 + 140, 36 + 69), {0xff, 0x7f, 0x0e}));
}
