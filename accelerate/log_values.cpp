#include "accelerate/log_values.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"

namespace accelerate {

namespace {

constexpr int64_t kImagesPerRow = 8;

tracking::Value element_of(const at::Tensor& tensor) {
  auto scalar = tensor.item();
  if (scalar.isBoolean()) return scalar.toBool();
  if (scalar.isIntegral(/*includeBool=*/false)) return scalar.toLong();
  return scalar.toDouble();
}

/// Arranges images [n, c, h, w] in rows of eight as one image [c, H, W]; free cells are black.
at::Tensor grid_of(const at::Tensor& images) {
  auto num_columns = std::min(images.size(0), kImagesPerRow);
  auto num_rows = (images.size(0) + num_columns - 1) / num_columns;
  auto missing = num_rows * num_columns - images.size(0);
  auto all = at::constant_pad_nd(images, {0, 0, 0, 0, 0, 0, 0, missing});
  return all.unflatten(0, {num_rows, num_columns}).permute({2, 0, 3, 1, 4}).flatten(3, 4).flatten(1, 2);
}

}  // namespace

LogValue::LogValue(at::Tensor tensor) : content_(tensor) {
  if (!tensor.defined()) fail("log: a tensor is undefined; log it once it has a value");
  if (tensor.numel() != 1) {
    fail("log: a tensor of shape ", tensor.sizes(), " is not one number; log its mean(), or log_histograms it");
  }
}

tracking::Value LogValue::value() const {
  if (auto* tensor = std::get_if<at::Tensor>(&content_)) return element_of(*tensor);
  if (auto* parts = std::get_if<LogValues>(&content_)) return values_of(*parts);
  return std::get<tracking::Value>(content_);
}

tracking::Values values_of(const LogValues& values) {
  tracking::Values result;
  for (const auto& [name, value] : values) result.emplace_back(name, value.value());
  return result;
}

void check_image(const std::string& name, const at::Tensor& tensor) {
  if (!tensor.defined()) fail("log_images: '", name, "' is an undefined tensor; log it once it has a value");
  if ((tensor.dim() != 3 && tensor.dim() != 4) || tensor.numel() == 0) {
    fail("log_images: '", name, "' is a tensor of shape ", tensor.sizes(),
         ", which is not an image; it must be [channels, height, width] or [n, channels, height, width]");
  }
  const auto channels = tensor.size(-3);
  if (channels != 1 && channels != 3 && channels != 4) {
    fail("log_images: '", name, "' of shape ", tensor.sizes(), " has ", channels,
         " channels; it can have 1 (grey), 3 (RGB) or 4 (RGBA)");
  }
}

tracking::Image image_of(const at::Tensor& tensor) {
  auto pixels = tensor.dim() == 4 ? grid_of(tensor.detach()) : tensor.detach();
  if (pixels.scalar_type() != at::kByte) pixels = pixels.to(at::kFloat).mul(255).clamp(0, 255).to(at::kByte);
  pixels = pixels.permute({1, 2, 0}).contiguous().cpu();
  const auto* first = pixels.const_data_ptr<uint8_t>();
  return {.height = pixels.size(0),
          .width = pixels.size(1),
          .channels = pixels.size(2),
          .pixels = {first, first + pixels.numel()}};
}

std::vector<double> numbers_of(const at::Tensor& tensor) {
  auto numbers = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  const auto* first = numbers.const_data_ptr<double>();
  return {first, first + numbers.numel()};
}

}  // namespace accelerate
