#pragma once

// Converts a tensor to a bitmap.

#include <ATen/core/Tensor.h>

#include "notebook/runtime/display.h"
#include "notebook/runtime/png.h"

namespace accelerate::notebook {

/// The bitmap that image() displays; see runtime/display.h.
Bitmap tensor_image(const at::Tensor& pixels, const ImageOptions& options);

}  // namespace accelerate::notebook
