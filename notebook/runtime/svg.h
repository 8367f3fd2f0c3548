#pragma once

// Drawings as SVG texts, which are sharp at any size.

#include <string>

#include "notebook/runtime/drawing.h"

namespace accelerate::notebook {

std::string svg(const Drawing& drawing);

}  // namespace accelerate::notebook
