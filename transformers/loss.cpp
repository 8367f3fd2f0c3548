#include "transformers/loss.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/pad.h>

#include "accelerate/base/error.h"

namespace transformers {

namespace {

using accelerate::fail;

constexpr int64_t kIgnored = -100;  // a label that does not count

std::string problem_type_of(const at::Tensor& labels, int64_t num_labels) {
  if (num_labels == 1) return "regression";
  bool whole = labels.scalar_type() == at::kLong || labels.scalar_type() == at::kInt;
  return whole ? "single_label_classification" : "multi_label_classification";
}

/// Checks labels on the CPU only: for another device it would have to synchronise.
void check_labels(const at::Tensor& labels, int64_t num_labels) {
  if (!labels.is_cpu() || labels.numel() == 0) return;
  auto wrong = labels.ne(kIgnored).logical_and(labels.lt(0).logical_or(labels.ge(num_labels)));
  if (!wrong.any().item<bool>()) return;
  fail("the label ", labels.masked_select(wrong)[0].item<int64_t>(), " is out of range: the model has ", num_labels,
       " labels, 0 to ", num_labels - 1, "; pass num_labels to from_pretrained, or fix the data");
}

/// Throws Error if the shapes differ. Otherwise they would be broadcast to a wrong loss.
void check_label_for_each(const at::Tensor& logits, const at::Tensor& labels) {
  if (labels.sizes() == logits.sizes()) return;
  fail("the labels are ", labels.sizes(), " and the logits ", logits.sizes(),
       "; each text needs one number per label of the model");
}

}  // namespace

at::Tensor sequence_classification_loss(const at::Tensor& logits, const at::Tensor& labels, PretrainedConfig& config) {
  auto num_labels = config.num_labels();
  auto problem_type = config.find<std::string>("problem_type");
  if (!problem_type) {
    problem_type = problem_type_of(labels, num_labels);
    config.set("problem_type", *problem_type);
  }
  if (*problem_type == "regression") {
    if (num_labels == 1) return at::mse_loss(logits.squeeze(), labels.squeeze());
    check_label_for_each(logits, labels);
    return at::mse_loss(logits, labels);
  }
  if (*problem_type == "single_label_classification") {
    check_labels(labels, num_labels);
    return at::cross_entropy_loss(logits.view({-1, num_labels}), labels.view({-1}).to(at::kLong));
  }
  check_label_for_each(logits, labels);
  return at::binary_cross_entropy_with_logits(logits, labels);
}

at::Tensor causal_lm_loss(const at::Tensor& logits, const at::Tensor& labels) {
  auto vocabulary = logits.size(-1);
  auto next = at::pad(labels, {0, 1}, "constant", kIgnored).narrow(-1, 1, labels.size(-1)).contiguous();
  return at::cross_entropy_loss(logits.to(at::kFloat).view({-1, vocabulary}), next.view({-1}));
}

}  // namespace transformers
