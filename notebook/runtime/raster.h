#pragma once

// Drawings as pixels, for notebooks that show no SVG: untrusted ones, and those on the pages of code hosts.

#include "notebook/runtime/drawing.h"
#include "notebook/runtime/png.h"

namespace accelerate::notebook {

/// The drawing in red, green and blue, with smooth edges.
Bitmap rasterized(const Drawing& drawing);

}  // namespace accelerate::notebook
