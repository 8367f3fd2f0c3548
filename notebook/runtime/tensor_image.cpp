#include "notebook/runtime/tensor_image.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"

namespace accelerate::notebook {

namespace {

/// Any of the shapes that `image` takes as a batch: pictures x channels x height x width.
at::Tensor as_batch(const at::Tensor& pixels) {
  auto dims = pixels.defined() ? pixels.dim() : 0;
  auto batch = dims == 2 ? pixels.unsqueeze(0).unsqueeze(0) : dims == 3 ? pixels.unsqueeze(0) : pixels;
  bool fits = dims >= 2 && dims <= 4 && pixels.numel() > 0;
  if (fits) fits = batch.size(1) == 1 || batch.size(1) == 3 || batch.size(1) == 4;
  if (!fits) {
    fail("image: a tensor of shape ", pixels.defined() ? pixels.sizes() : at::IntArrayRef(),
         " is not an image; it must be [height, width], [channels, height, width] with 1, 3 or 4 channels, or a batch "
         "of those");
  }
  return batch.detach().cpu();
}

at::Tensor as_bytes(const at::Tensor& batch, const ImageOptions& options) {
  if (batch.scalar_type() == at::kByte) return batch;
  auto brightness = (batch.to(at::kFloat) - options.low) / (options.high - options.low);
  return brightness.mul(255).round().clamp(0, 255).to(at::kByte);
}

/// The pictures beside and below each other, with lines of one pixel between them.
at::Tensor in_rows(const at::Tensor& batch, int64_t per_row) {
  auto num = batch.size(0), height = batch.size(2), width = batch.size(3);
  auto columns = std::min(num, std::max<int64_t>(per_row, 1));
  auto rows = (num + columns - 1) / columns;
  auto grid = at::full({batch.size(1), rows * (height + 1) - 1, columns * (width + 1) - 1}, 255, at::kByte);
  for (int64_t i = 0; i < num; ++i) {
    auto place = grid.narrow(1, i / columns * (height + 1), height).narrow(2, i % columns * (width + 1), width);
    place.copy_(batch[i]);
  }
  return grid;
}

}  // namespace

Bitmap tensor_image(const at::Tensor& pixels, const ImageOptions& options) {
  auto grid = in_rows(as_bytes(as_batch(pixels), options), options.per_row);
  auto scaled = grid.repeat_interleave(options.scale, 1).repeat_interleave(options.scale, 2);
  auto bytes = scaled.permute({1, 2, 0}).contiguous();
  const auto* first = bytes.const_data_ptr<uint8_t>();
  return {.width = static_cast<int>(bytes.size(1)),
          .height = static_cast<int>(bytes.size(0)),
          .channels = static_cast<int>(bytes.size(2)),
          .bytes = {first, first + bytes.numel()}};
}

}  // namespace accelerate::notebook
