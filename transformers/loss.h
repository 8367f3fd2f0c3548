#pragma once

// The losses that models compute if the inputs have labels.

#include <ATen/core/Tensor.h>

#include "transformers/pretrained_config.h"

namespace transformers {

/// The loss for `problem_type` of the configuration: "regression" (mean squared error), "single_label_classification"
/// (cross entropy), "multi_label_classification" (binary cross entropy). If the configuration has no problem_type, it
/// is derived from the number of labels and the dtype of `labels`, and stored in `config`. Throws Error for CPU labels
/// that are out of range and for labels of the wrong shape.
at::Tensor sequence_classification_loss(const at::Tensor& logits, const at::Tensor& labels, PretrainedConfig& config);

/// Cross entropy of the prediction at each position against the label of the next one. Labels of -100 are ignored.
at::Tensor causal_lm_loss(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace transformers
