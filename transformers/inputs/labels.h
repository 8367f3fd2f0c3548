#pragma once

// The labels of the rows of a data set as a tensor.

#include <span>

#include <ATen/core/Tensor.h>

#include "transformers/text/text_dataset.h"

namespace transformers::inputs {

/// Classes as int64 [rows], regression targets as float32 [rows], or several labels per row as float32 [rows, labels].
/// Throws Error if rows have different kinds of labels.
at::Tensor labels_of(std::span<const text::LabelledText> rows);

}  // namespace transformers::inputs
