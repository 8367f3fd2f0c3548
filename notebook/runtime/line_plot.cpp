#include "notebook/runtime/line_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "accelerate/base/error.h"

namespace accelerate::notebook {

namespace {

constexpr const char* kColors[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728",
                                   "#9467bd", "#8c564b", "#e377c2", "#17becf"};
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

std::string number_text(double number, const char* format = "%.6g") {
  char text[32];
  std::snprintf(text, sizeof(text), format, std::abs(number) < 1e-12 ? 0.0 : number);
  return text;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return safe;
}

/// Maps values to places in the picture and writes its parts.
class Canvas {
 public:
  Canvas(const PlotOptions& options, Range x, Range y) : options_(options), x_(x), y_(y) {
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << options.width << "\" height=\"" << options.height
         << "\" viewBox=\"0 0 " << options.width << " " << options.height
         << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
         << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  }

  void axes() {
    for (double tick : round_ticks(x_.low, x_.high, 8)) {
      line(place_x(tick), bottom(), place_x(tick), kTop, "#e5e5e5");
      text(place_x(tick), bottom() + 16, number_text(tick), "middle");
    }
    for (double tick : round_ticks(y_.low, y_.high, 6)) {
      line(kLeft, place_y(tick), right(), place_y(tick), "#e5e5e5");
      text(kLeft - 6, place_y(tick) + 4, number_text(tick), "end");
    }
    line(kLeft, bottom(), right(), bottom(), "black");
    line(kLeft, bottom(), kLeft, kTop, "black");
    text((kLeft + right()) / 2, 20, options_.title, "middle", "font-size=\"14\"");
    text((kLeft + right()) / 2, options_.height - 10, options_.x_label, "middle");
    auto middle = number_text((kTop + bottom()) / 2);
    text(16, (kTop + bottom()) / 2, options_.y_label, "middle", "transform=\"rotate(-90 16 " + middle + ")\"");
  }

  void curve(const Series& series, const char* color) {
    std::string points;
    auto finish = [&] {
      if (!points.empty()) {
        out_ << "<polyline fill=\"none\" stroke=\"" << color << "\" stroke-width=\"1.8\" points=\"" << points
             << "\"/>\n";
      }
      points.clear();
    };
    for (size_t i = 0; i < series.y.size(); ++i) {
      double x = x_of(series, i), y = series.y[i];
      if (!std::isfinite(x) || !std::isfinite(y)) {
        finish();
        continue;
      }
      points += (points.empty() ? "" : " ") + number_text(place_x(x), "%.2f") + "," + number_text(place_y(y), "%.2f");
    }
    finish();
  }

  void legend(const std::string& name, const char* color, int row) {
    double y = kTop + 14 + 18 * row;
    line(right() - 130, y - 4, right() - 106, y - 4, color);
    text(right() - 100, y, name, "start");
  }

  std::string svg() const { return out_.str() + "</svg>\n"; }

 private:
  double right() const { return options_.width - kRight; }
  double bottom() const { return options_.height - kBottom; }
  double place_x(double x) const { return kLeft + (x - x_.low) / (x_.high - x_.low) * (right() - kLeft); }
  double place_y(double y) const { return bottom() - (y - y_.low) / (y_.high - y_.low) * (bottom() - kTop); }

  void line(double x1, double y1, double x2, double y2, const char* color) {
    out_ << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2 << "\" stroke=\"" << color
         << "\"/>\n";
  }

  void text(double x, double y, const std::string& words, const char* anchor, const std::string& more = "") {
    if (words.empty()) return;
    out_ << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\" " << more << ">"
         << escaped(words) << "</text>\n";
  }

  const PlotOptions& options_;
  Range x_, y_;
  std::ostringstream out_;
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

std::string line_plot(const std::vector<Series>& series, const PlotOptions& options) {
  Range x, y;
  for (const auto& one : series) {
    if (!one.x.empty() && one.x.size() != one.y.size()) {
      fail("the curve '", one.name, "' has ", one.x.size(), " values of x and ", one.y.size(),
           " of y; it needs as many");
    }
    for (size_t i = 0; i < one.y.size(); ++i) {
      x.include(x_of(one, i));
      y.include(one.y[i]);
    }
  }
  Canvas canvas(options, x.widened(), y.widened());
  canvas.axes();
  for (size_t i = 0; i < series.size(); ++i) canvas.curve(series[i], kColors[i % std::size(kColors)]);
  int row = 0;
  for (size_t i = 0; i < series.size(); ++i) {
    if (!series[i].name.empty()) canvas.legend(series[i].name, kColors[i % std::size(kColors)], row++);
  }
  return canvas.svg();
}

}  // namespace accelerate::notebook
