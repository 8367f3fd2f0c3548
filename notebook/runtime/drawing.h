#pragma once

// A vector drawing of lines, curves and labels, and its conversion to SVG and bitmaps.

#include <cstdint>
#include <string>
#include <vector>

#include "notebook/runtime/png.h"

namespace accelerate::notebook {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

/// In pixels from the upper left corner.
struct Point {
  double x = 0;
  double y = 0;
};

/// A straight line, one pixel wide.
struct Line {
  Point from = {};
  Point to = {};
  Color color = {};
};

/// A line through several points. One point alone is a dot.
struct Curve {
  std::vector<Point> points = {};
  Color color = {};
};

enum class Anchor { Start, Middle, End };

struct Label {
  Point place = {};  // on the baseline
  std::string words = {};
  Anchor anchor = Anchor::Start;  // which part of the words stands at `place`
  double font_size = 12;
  bool upwards = false;  // read from the bottom to the top
};

/// On white. Lines are drawn first, then curves, then labels.
struct Drawing {
  int width = 0;
  int height = 0;
  std::vector<Line> lines = {};
  std::vector<Curve> curves = {};
  std::vector<Label> labels = {};
};

constexpr double kCurveWidth = 1.8;

/// The drawing as SVG, which is sharp at any size.
std::string svg(const Drawing& drawing);

/// The drawing as an anti-aliased RGB bitmap, for viewers without SVG: untrusted notebooks, and web pages of code
/// hosts.
Bitmap rasterized(const Drawing& drawing);

/// The strokes of the label's text, at its position. Characters that are not ASCII become boxes.
std::vector<std::vector<Point>> strokes_of(const Label& label);

}  // namespace accelerate::notebook
