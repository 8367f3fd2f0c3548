#include "notebook/runtime/drawing.h"

#include <cstdio>
#include <sstream>
#include <string_view>

namespace accelerate::notebook {

namespace {

std::string color_code(const Color& color) {
  char text[8];
  std::snprintf(text, sizeof(text), "#%02x%02x%02x", color.red, color.green, color.blue);
  return text;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return safe;
}

const char* anchor_word(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::Middle ? "middle" : "end";
}

void write(std::ostream& out, const Line& line) {
  out << "<line x1=\"" << line.from.x << "\" y1=\"" << line.from.y << "\" x2=\"" << line.to.x << "\" y2=\"" << line.to.y
      << "\" stroke=\"" << color_code(line.color) << "\"/>\n";
}

void write(std::ostream& out, const Curve& curve) {
  auto points = curve.points;
  if (points.size() == 1) points.push_back(points.front());  // SVG draws nothing between fewer than two points
  out << "<polyline fill=\"none\" stroke=\"" << color_code(curve.color) << "\" stroke-width=\"" << kCurveWidth
      << "\" stroke-linecap=\"round\" stroke-linejoin=\"round\" points=\"";
  const char* separator = "";
  for (const auto& point : points) {
    char text[64];
    std::snprintf(text, sizeof(text), "%s%.2f,%.2f", separator, point.x, point.y);
    out << text;
    separator = " ";
  }
  out << "\"/>\n";
}

void write(std::ostream& out, const Label& label) {
  if (label.words.empty()) return;
  const auto& [x, y] = label.place;
  out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor_word(label.anchor) << "\" font-size=\""
      << label.font_size << "\"";
  if (label.upwards) out << " transform=\"rotate(-90 " << x << " " << y << ")\"";
  out << ">" << escaped(label.words) << "</text>\n";
}

}  // namespace

std::string svg(const Drawing& drawing) {
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << drawing.width << "\" height=\"" << drawing.height
      << "\" viewBox=\"0 0 " << drawing.width << " " << drawing.height << "\" font-family=\"sans-serif\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (const auto& line : drawing.lines) write(out, line);
  for (const auto& curve : drawing.curves) write(out, curve);
  for (const auto& label : drawing.labels) write(out, label);
  out << "</svg>\n";
  return out.str();
}

}  // namespace accelerate::notebook
