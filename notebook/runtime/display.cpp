#include "notebook/runtime/display.h"

#include <unistd.h>

#include <atomic>

#include "accelerate/base/base64.h"
#include "notebook/runtime/drawing.h"
#include "notebook/runtime/png.h"
#include "notebook/runtime/tensor_image.h"

namespace accelerate::notebook {

Rich html(std::string text) { return {{{"text/html", text}, {"text/plain", std::move(text)}}}; }

Rich markdown(std::string text) { return {{{"text/markdown", text}, {"text/plain", std::move(text)}}}; }

Rich image(const at::Tensor& pixels, const ImageOptions& options) {
  auto bitmap = tensor_image(pixels, options);
  auto size = std::to_string(bitmap.width) + " x " + std::to_string(bitmap.height);
  return {{{"image/png", encode_base64(encode_png(bitmap))}, {"text/plain", "<picture of " + size + " pixels>"}}};
}

Rich plot(const std::vector<Series>& series, const PlotOptions& options) {
  auto drawing = line_plot(series, options);
  return {{{"image/svg+xml", svg(drawing)},
           {"image/png", encode_base64(encode_png(rasterized(drawing)))},
           {"text/plain", options.title.empty() ? "<plot>" : "<plot " + options.title + ">"}}};
}

Rich plot(const std::vector<double>& values, const PlotOptions& options) {
  return plot(std::vector<Series>{{.y = values}}, options);
}

std::string new_display_id() {
  static std::atomic<int> count = 0;
  return std::to_string(getpid()) + "-" + std::to_string(count++);
}

}  // namespace accelerate::notebook
