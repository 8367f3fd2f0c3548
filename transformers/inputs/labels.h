#pragma once

// What a model learns from the rows of a data set.

#include <span>

#include <ATen/core/Tensor.h>

#include "transformers/text/text_dataset.h"

namespace transformers::inputs {

/// The classes of the rows as int64, or their numbers as float32, or their several labels as float32 [rows, labels].
/// Throws Error when some have one and some the other.
at::Tensor labels_of(std::span<const text::LabelledText> rows);

}  // namespace transformers::inputs
