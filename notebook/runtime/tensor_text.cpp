#include "notebook/runtime/value_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

namespace accelerate::notebook {

namespace {

constexpr int64_t kMostValues = 1000;
constexpr int64_t kEdge = 3;

/// How the decimal numbers of one tensor are written: all in the same way.
const char* decimal_format(const std::vector<at::Scalar>& numbers) {
  double largest = 0, smallest = INFINITY;
  bool all_whole = true;
  for (const auto& number : numbers) {
    auto value = number.toDouble();
    if (!std::isfinite(value)) continue;
    largest = std::max(largest, std::abs(value));
    if (value != 0) smallest = std::min(smallest, std::abs(value));
    all_whole &= value == std::floor(value);
  }
  if (largest >= 1e5 || smallest < 1e-4) return "%.4e";
  return all_whole ? "%.0f." : "%.4f";
}

std::string element_text(const at::Scalar& element, const char* decimal_format) {
  if (element.isBoolean()) return element.toBool() ? "true" : "false";
  if (element.isUnsigned()) return std::to_string(element.toUInt64());
  if (element.isIntegral(/*includeBool=*/false)) return std::to_string(element.toLong());
  char text[64];
  auto value = element.toDouble();
  std::snprintf(text, sizeof(text), std::isfinite(value) ? decimal_format : "%g", value);
  return text;
}

/// The elements as texts of the same width.
std::vector<std::string> element_texts(const std::vector<at::Scalar>& elements) {
  const auto* format = decimal_format(elements);
  std::vector<std::string> texts;
  size_t width = 0;
  for (const auto& element : elements) {
    texts.push_back(element_text(element, format));
    width = std::max(width, texts.back().size());
  }
  for (auto& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

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

/// Adds the elements that are shown, in their order. The others are not looked at: a large tensor is neither copied nor
/// converted.
void add_shown(const at::Tensor& tensor, bool shorten, std::vector<at::Scalar>& elements) {
  if (tensor.dim() == 0) return elements.push_back(tensor.item());
  for (auto index : shown_indices(tensor.size(0), shorten)) {
    if (index >= 0) add_shown(tensor[index], shorten, elements);
  }
}

/// Writes brackets around the texts of the elements that are shown, of which `next` is the first.
void write(std::ostringstream& out, at::IntArrayRef sizes, bool shorten, const std::string*& next, size_t indent) {
  if (sizes.empty()) {
    out << *next++;
    return;
  }
  out << "[";
  bool first = true;
  for (auto index : shown_indices(sizes.front(), shorten)) {
    if (!first && sizes.size() == 1) out << ", ";
    if (!first && sizes.size() > 1) out << ",\n" << std::string(indent + 1, ' ');
    first = false;
    if (index < 0) {
      out << "...";
    } else {
      write(out, sizes.slice(1), shorten, next, indent + 1);
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

  bool shorten = tensor.numel() > kMostValues;
  std::vector<at::Scalar> elements;
  add_shown(tensor.detach(), shorten, elements);
  auto texts = element_texts(elements);
  const auto* next = texts.data();
  out << "\n";
  write(out, tensor.sizes(), shorten, next, /*indent=*/0);
  return out.str();
}

}  // namespace accelerate::notebook
