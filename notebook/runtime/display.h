#pragma once

// Displays values below a cell: text, HTML, images of tensors, line plots.
//
//   display(image(pixels));                        a tensor as a picture
//   display(plot(losses, {.title = "loss"}));      a curve
//   auto shown = display(plot(losses));            one that is drawn anew while a loop runs:
//   shown.update(plot(losses));

#include <concepts>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "notebook/runtime/line_plot.h"
#include "notebook/runtime/messages.h"
#include "notebook/runtime/value_text.h"

namespace accelerate::notebook {

/// A value with its own display formats. Any type T can have these: define `MimeBundle mime_bundle(const T&)` in the
/// namespace of T.
struct Rich {
  MimeBundle bundle = {};
};

/// A piece of HTML; a text in Markdown.
Rich html(std::string text);
Rich markdown(std::string text);

struct ImageOptions {
  int scale = 1;    // screen pixels for each of the picture's
  int per_row = 8;  // images of a batch per row
  double low = 0;   // the value of a floating-point tensor that is black
  double high = 1;  // and the one that is white
};

/// A picture of a tensor: height x width, channels x height x width with 1, 3 or 4 channels, or a batch of those.
/// Numbers of uint8 are brightness from 0 to 255, others from `low` to `high`. Throws Error for another shape.
Rich image(const at::Tensor& pixels, const ImageOptions& options = {});

/// A line plot over the steps 0, 1, 2, ..., or over `x` of each series.
Rich plot(const std::vector<double>& values, const PlotOptions& options = {});
Rich plot(const std::vector<Series>& series, const PlotOptions& options = {});

/// The display formats of a value: its own if it has any, else its text.
template <class T>
MimeBundle bundle_of(const T& value) {
  if constexpr (std::same_as<T, Rich>) {
    return value.bundle;
  } else if constexpr (requires { MimeBundle(mime_bundle(value)); }) {
    return mime_bundle(value);
  } else {
    return {{"text/plain", value_text(value)}};
  }
}

/// A displayed output that can be updated.
class Display {
 public:
  explicit Display(std::string id) : id_(std::move(id)) {}

  /// Replaces the output by `value`.
  template <class T>
  void update(const T& value) const {
    send_display(bundle_of(value), id_, /*update=*/true);
  }

 private:
  std::string id_;
};

/// An identifier that no other display of this notebook has.
std::string new_display_id();

/// Displays a value below the cell. The result can update it. Forked ranks can call it too.
template <class T>
Display display(const T& value) {
  auto id = new_display_id();
  send_display(bundle_of(value), id, /*update=*/false);
  return Display(id);
}

/// Sends the value of the last expression of a cell as its result: the cell is rewritten to `expression, Shown{}`. A
/// comma operator and not a function, because it also accepts an expression of type void, which has no result. A
/// stream, such as the value of `std::cout << x`, is not displayed.
struct Shown {};
template <class T>
void operator,(const T& value, Shown) {
  if constexpr (!std::same_as<T, std::ostream>) send_result(bundle_of(value));
}

}  // namespace accelerate::notebook
