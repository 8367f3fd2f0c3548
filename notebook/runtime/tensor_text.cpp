#include "notebook/runtime/tensor_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <sstream>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/ScalarType.h>

namespace accelerate::notebook {

namespace {

constexpr int64_t kMostValues = 1000;
constexpr int64_t kEdge = 3;

/// How the numbers of one tensor are written, so that they are equally wide.
class NumberFormat {
 public:
  explicit NumberFormat(const std::vector<double>& values, bool whole, bool logical) : logical_(logical) {
    double largest = 0, smallest = INFINITY;
    bool all_whole = true;
    for (double value : values) {
      if (!std::isfinite(value)) continue;
      largest = std::max(largest, std::abs(value));
      if (value != 0) smallest = std::min(smallest, std::abs(value));
      all_whole &= value == std::floor(value);
    }
    if (whole) {
      format_ = "%.0f";
    } else if (largest >= 1e5 || (smallest < 1e-4 && smallest > 0)) {
      format_ = "%.4e";
    } else {
      format_ = all_whole ? "%.0f." : "%.4f";
    }
    for (double value : values) width_ = std::max(width_, unpadded(value).size());
  }

  std::string text(double value) const {
    auto number = unpadded(value);
    return std::string(width_ - number.size(), ' ') + number;
  }

 private:
  std::string unpadded(double value) const {
    if (logical_) return value != 0 ? "true" : "false";
    char text[64];
    std::snprintf(text, sizeof(text), std::isfinite(value) ? format_ : "%g", value);
    return text;
  }

  const char* format_ = "%g";
  bool logical_;
  size_t width_ = 0;
};

/// The indices of a dimension that are shown; -1 stands for those left out.
std::vector<int64_t> shown_indices(int64_t size, bool shorten) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < size; ++i) {
    if (shorten && size > 2 * kEdge && i == kEdge) {
      indices.push_back(-1);
      i = size - kEdge;
    }
    indices.push_back(i);
  }
  return indices;
}

void visit(const at::Tensor& tensor, bool shorten, const std::function<void(const at::Tensor&)>& scalar) {
  if (tensor.dim() == 0) return scalar(tensor);
  for (auto index : shown_indices(tensor.size(0), shorten)) {
    if (index >= 0) visit(tensor[index], shorten, scalar);
  }
}

void write(std::ostringstream& out, const at::Tensor& tensor, bool shorten, const NumberFormat& format, int indent) {
  if (tensor.dim() == 0) {
    out << format.text(tensor.item<double>());
    return;
  }
  out << "[";
  bool first = true;
  for (auto index : shown_indices(tensor.size(0), shorten)) {
    if (!first && tensor.dim() == 1) out << ", ";
    if (!first && tensor.dim() > 1) out << ",\n" << std::string(static_cast<size_t>(indent) + 1, ' ');
    first = false;
    if (index < 0) {
      out << "...";
    } else {
      write(out, tensor[index], shorten, format, indent + 1);
    }
  }
  out << "]";
}

}  // namespace

std::string tensor_text(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined tensor";
  std::ostringstream out;
  out << c10::getDtypeNames(tensor.scalar_type()).first << " " << tensor.sizes();
  if (!tensor.device().is_cpu()) out << " on " << tensor.device();
  if (tensor.requires_grad()) out << ", requires grad";
  bool special = tensor.is_complex() || tensor.is_quantized() || tensor.layout() != at::kStrided;
  if (special) {
    out << "\n" << tensor;
    return out.str();
  }
  if (tensor.numel() == 0) return out.str();

  auto type = tensor.scalar_type();
  bool shorten = tensor.numel() > kMostValues;
  auto values = tensor.detach().cpu().to(at::kDouble);
  std::vector<double> shown;
  visit(values, shorten, [&](const at::Tensor& scalar) { shown.push_back(scalar.item<double>()); });
  NumberFormat format(shown, !tensor.is_floating_point(), type == at::kBool);
  out << "\n";
  write(out, values, shorten, format, 0);
  return out.str();
}

}  // namespace accelerate::notebook
