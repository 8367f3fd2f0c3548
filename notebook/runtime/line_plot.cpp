#include "notebook/runtime/line_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "accelerate/base/error.h"

namespace accelerate::notebook {

namespace {

constexpr Color kColors[] = {{0x1f, 0x77, 0xb4}, {0xff, 0x7f, 0x0e}, {0x2c, 0xa0, 0x2c}, {0xd6, 0x27, 0x28},
                             {0x94, 0x67, 0xbd}, {0x8c, 0x56, 0x4b}, {0xe3, 0x77, 0xc2}, {0x17, 0xbe, 0xcf}};
constexpr Color kBlack = {}, kGrid = {0xe5, 0xe5, 0xe5};
constexpr int kLeft = 64, kRight = 16, kTop = 36, kBottom = 48;

struct Range {
  double low = INFINITY;
  double high = -INFINITY;

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// A range that has a length, whatever was included.
  Range widened() const {
    if (low > high) return {0, 1};
    if (low < high) return *this;
    double margin = std::max(0.5, std::abs(low) * 1e-6);  // 0.5 alone would change nothing in a number like 1e16
    return {low - margin, high + margin};
  }
};

double x_of(const Series& series, size_t i) { return series.x.empty() ? static_cast<double>(i) : series.x[i]; }

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", std::abs(number) < 1e-12 ? 0.0 : number);
  return text;
}

/// Maps values to places in the drawing and adds its parts.
class Chart {
 public:
  Chart(const PlotOptions& options, Range x, Range y)
      : options_(options), x_(x), y_(y), drawing_{.width = options.width, .height = options.height} {}

  void axes() {
    for (double tick : round_ticks(x_.low, x_.high, 8)) {
      line(place_x(tick), bottom(), place_x(tick), kTop, kGrid);
      label({place_x(tick), bottom() + 16}, number_text(tick), Anchor::Middle);
    }
    for (double tick : round_ticks(y_.low, y_.high, 6)) {
      line(kLeft, place_y(tick), right(), place_y(tick), kGrid);
      label({kLeft - 6, place_y(tick) + 4}, number_text(tick), Anchor::End);
    }
    line(kLeft, bottom(), right(), bottom(), kBlack);
    line(kLeft, bottom(), kLeft, kTop, kBlack);
    label({(kLeft + right()) / 2, 20}, options_.title, Anchor::Middle).font_size = 14;
    label({(kLeft + right()) / 2, options_.height - 10.0}, options_.x_label, Anchor::Middle);
    label({16, (kTop + bottom()) / 2}, options_.y_label, Anchor::Middle).upwards = true;
  }

  /// A curve for each stretch of finite values.
  void curve(const Series& series, const Color& color) {
    bool begins = true;
    for (size_t i = 0; i < series.y.size(); ++i) {
      double x = x_of(series, i), y = series.y[i];
      bool drawn = std::isfinite(x) && std::isfinite(y);
      if (drawn && begins) drawing_.curves.push_back({.color = color});
      if (drawn) drawing_.curves.back().points.push_back({place_x(x), place_y(y)});
      begins = !drawn;
    }
  }

  void legend(const std::string& name, const Color& color, int row) {
    double y = kTop + 14 + 18 * row;
    line(right() - 130, y - 4, right() - 106, y - 4, color);
    label({right() - 100, y}, name, Anchor::Start);
  }

  Drawing drawing() { return std::move(drawing_); }

 private:
  double right() const { return options_.width - kRight; }
  double bottom() const { return options_.height - kBottom; }
  double place_x(double x) const { return kLeft + (x - x_.low) / (x_.high - x_.low) * (right() - kLeft); }
  double place_y(double y) const { return bottom() - (y - y_.low) / (y_.high - y_.low) * (bottom() - kTop); }

  void line(double x1, double y1, double x2, double y2, const Color& color) {
    drawing_.lines.push_back({{x1, y1}, {x2, y2}, color});
  }

  Label& label(const Point& place, const std::string& words, Anchor anchor) {
    return drawing_.labels.emplace_back(Label{.place = place, .words = words, .anchor = anchor});
  }

  const PlotOptions& options_;
  Range x_, y_;
  Drawing drawing_;
};

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low)) return {low};
  double rough = (high - low) / count;
  double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (double factor : {1, 2, 5}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  if (!(step > 0)) return {low};  // a part of the range is too small for a number
  std::vector<double> ticks;
  auto first = static_cast<int64_t>(std::ceil(low / step - 1e-9));
  for (int64_t i = first; static_cast<double>(i) * step <= high + step * 1e-9; ++i)
    ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

Drawing line_plot(const std::vector<Series>& series, const PlotOptions& options) {
  Range x, y;
  for (const auto& one : series) {
    if (!one.x.empty() && one.x.size() != one.y.size()) {
      fail("the curve '", one.name, "' has ", one.x.size(), " values of x and ", one.y.size(),
           " of y; it needs the same number of both");
    }
    for (size_t i = 0; i < one.y.size(); ++i) {
      x.include(x_of(one, i));
      y.include(one.y[i]);
    }
  }
  Chart chart(options, x.widened(), y.widened());
  chart.axes();
  for (size_t i = 0; i < series.size(); ++i) chart.curve(series[i], kColors[i % std::size(kColors)]);
  int row = 0;
  for (size_t i = 0; i < series.size(); ++i) {
    if (!series[i].name.empty()) chart.legend(series[i].name, kColors[i % std::size(kColors)], row++);
  }
  return chart.drawing();
}

}  // namespace accelerate::notebook
