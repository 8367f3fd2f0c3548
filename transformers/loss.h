#pragma once

// The losses that models compute when they are given labels.

#include <ATen/core/Tensor.h>

#include "transformers/pretrained_config.h"

namespace transformers {

/// By `problem_type` of the configuration: "regression" (mean squared error), "single_label_classification" (cross
/// entropy), "multi_label_classification" (binary cross entropy). Where the configuration does not say, it follows from
/// the number of labels and the type of `labels`, and the configuration remembers it. Throws Error for labels out of
/// range.
at::Tensor sequence_classification_loss(const at::Tensor& logits, const at::Tensor& labels, PretrainedConfig& config);

/// Cross entropy of each position's prediction against the next label; -100 is left out.
at::Tensor causal_lm_loss(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace transformers
