#include "notebook/runtime/drawing.h"

#include <algorithm>
#include <cmath>

namespace accelerate::notebook {

namespace {

constexpr double kFontStroke = 0.1;  // width of the lines of a letter, in font sizes

double distance(const Point& point, const Point& from, const Point& to) {
  double dx = to.x - from.x, dy = to.y - from.y;
  double square = dx * dx + dy * dy;
  double along = square > 0 ? ((point.x - from.x) * dx + (point.y - from.y) * dy) / square : 0;
  along = std::clamp(along, 0.0, 1.0);
  return std::hypot(point.x - from.x - along * dx, point.y - from.y - along * dy);
}

/// A white picture that lines are drawn on.
class Canvas {
 public:
  Canvas(int width, int height)
      : bitmap_{.width = width,
                .height = height,
                .channels = 3,
                .bytes = std::vector<uint8_t>(size(width, height) * 3, 255)},
        coverage_(size(width, height)) {}

  void draw(const Line& line) {
    // Through the middle of pixels, so that a horizontal or vertical line fills one row or column.
    auto middle = [](const Point& point) { return Point{std::floor(point.x) + 0.5, std::floor(point.y) + 0.5}; };
    cover({middle(line.from), middle(line.to)}, 1);
    paint(line.color);
  }

  void draw(const Curve& curve) {
    cover(curve.points, kCurveWidth);
    paint(curve.color);
  }

  void draw(const Label& label) {
    for (const auto& stroke : strokes_of(label)) cover(stroke, std::max(1.0, label.font_size * kFontStroke));
    paint({});
  }

  Bitmap bitmap() { return std::move(bitmap_); }

 private:
  static size_t size(int width, int height) { return static_cast<size_t>(width) * static_cast<size_t>(height); }

  /// Notes how much of each pixel a line of this width covers.
  void cover(const std::vector<Point>& points, double width) {
    if (points.size() == 1) return cover(points.front(), points.front(), width);
    for (size_t i = 1; i < points.size(); ++i) cover(points[i - 1], points[i], width);
  }

  void cover(const Point& from, const Point& to, double width) {
    double reach = width / 2 + 1;
    auto first = [&](double a, double b) { return std::max(0, static_cast<int>(std::floor(std::min(a, b) - reach))); };
    auto last = [&](double a, double b, int end) {
      return std::min(end, static_cast<int>(std::ceil(std::max(a, b) + reach)));
    };
    int top = first(from.y, to.y), bottom = last(from.y, to.y, bitmap_.height);
    for (int y = top; y < bottom; ++y) {
      for (int x = first(from.x, to.x), end = last(from.x, to.x, bitmap_.width); x < end; ++x) {
        double covered = width / 2 + 0.5 - distance({x + 0.5, y + 0.5}, from, to);
        auto& pixel = coverage_[size(bitmap_.width, y) + static_cast<size_t>(x)];
        pixel = std::max(pixel, static_cast<float>(std::clamp(covered, 0.0, 1.0)));
      }
    }
    covered_top_ = std::min(covered_top_, top);
    covered_bottom_ = std::max(covered_bottom_, bottom);
  }

  /// Brings the color to the pixels that are covered.
  void paint(const Color& color) {
    const uint8_t channels[] = {color.red, color.green, color.blue};
    for (int y = covered_top_; y < covered_bottom_; ++y) {
      for (size_t at = size(bitmap_.width, y); at < size(bitmap_.width, y + 1); ++at) {
        for (size_t channel = 0; channel < 3; ++channel) {
          auto& byte = bitmap_.bytes[at * 3 + channel];
          byte = static_cast<uint8_t>(
              std::lround(static_cast<float>(byte) + coverage_[at] * static_cast<float>(channels[channel] - byte)));
        }
        coverage_[at] = 0;
      }
    }
    covered_top_ = bitmap_.height;
    covered_bottom_ = 0;
  }

  Bitmap bitmap_;
  std::vector<float> coverage_;  // of each pixel by what is being drawn, from 0 to 1
  int covered_top_ = 1 << 30;    // the rows that have some
  int covered_bottom_ = 0;
};

}  // namespace

Bitmap rasterized(const Drawing& drawing) {
  Canvas canvas(drawing.width, drawing.height);
  for (const auto& line : drawing.lines) canvas.draw(line);
  for (const auto& curve : drawing.curves) canvas.draw(curve);
  for (const auto& label : drawing.labels) canvas.draw(label);
  return canvas.bitmap();
}

}  // namespace accelerate::notebook
