#pragma once

// The pixels of a tensor.

#include <ATen/core/Tensor.h>

#include "notebook/runtime/display.h"
#include "notebook/runtime/png.h"

namespace accelerate::notebook {

/// The picture that `image` shows.
Bitmap tensor_image(const at::Tensor& pixels, const ImageOptions& options);

}  // namespace accelerate::notebook
