#pragma once

// Line plots with axes, such as loss curves.

#include <string>
#include <vector>

#include "notebook/runtime/drawing.h"

namespace accelerate::notebook {

struct Series {
  std::string name = {};  // in the legend
  std::vector<double> y = {};
  std::vector<double> x = {};  // 0, 1, 2, ... when empty
};

struct PlotOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  int width = 640;
  int height = 360;
};

/// Numbers at even, round distances that cover the range from `low` to `high`, about `count` of them; `low` alone when
/// there is no range.
std::vector<double> round_ticks(double low, double high, int count);

/// The drawing with axes, a line for each series, and a legend where a series has a name. Values that are not finite
/// interrupt the line. Throws Error when x and y have different lengths.
Drawing line_plot(const std::vector<Series>& series, const PlotOptions& options = {});

}  // namespace accelerate::notebook
