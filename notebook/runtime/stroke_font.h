#pragma once

// Letters made of lines, for pictures that are drawn without a font of the system.

#include <vector>

#include "notebook/runtime/drawing.h"

namespace accelerate::notebook {

/// The lines of the words, where the label places them. Characters other than those of ASCII are boxes.
std::vector<std::vector<Point>> strokes_of(const Label& label);

}  // namespace accelerate::notebook
