#include "accelerate/metrics/perplexity.h"

#include <cmath>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "accelerate/base/error.h"

namespace accelerate::metrics {

namespace {

constexpr int64_t kIgnoredLabel = -100;  // the label of positions to ignore, as in Transformers

}  // namespace

void TokenLosses::add(const at::Tensor& predictions, const at::Tensor& references) {
  if (!predictions.is_floating_point()) {
    fail("perplexity: predictions are of type ", predictions.scalar_type(), "; it takes logits, or only losses");
  }
  c10::NoGradGuard no_grad;
  if (!references.defined()) {
    sum_ += predictions.to(at::kDouble).sum().item<double>();
    count_ += predictions.numel();
    return;
  }
  if (predictions.dim() != references.dim() + 1 ||
      predictions.sizes().slice(0, references.dim()) != references.sizes()) {
    fail("perplexity: logits have shape ", predictions.sizes(), " and labels ", references.sizes(),
         "; logits must have one more dimension, the vocabulary");
  }
  const auto labels = references.to(predictions.device(), at::kLong).flatten();
  auto logits = predictions.reshape({-1, predictions.size(-1)});
  if (logits.scalar_type() == at::kHalf || logits.scalar_type() == at::kBFloat16) logits = logits.to(at::kFloat);
  const auto losses = at::cross_entropy_loss(logits, labels, {}, at::Reduction::None, kIgnoredLabel);
  sum_ += losses.to(at::kDouble).sum().item<double>();
  count_ += labels.ne(kIgnoredLabel).sum().item<int64_t>();
}

TokenLosses TokenLosses::gathered(const comm::Group& group) const {
  if (group.size() == 1) return *this;
  auto both = at::empty({2}, at::kDouble);
  both[0] = sum_;
  both[1] = static_cast<double>(count_);
  group.all_reduce(both);
  TokenLosses together;
  together.sum_ = both[0].item<double>();
  together.count_ = static_cast<int64_t>(both[1].item<double>());
  return together;
}

double TokenLosses::perplexity() const { return std::exp(sum_ / static_cast<double>(count_)); }

}  // namespace accelerate::metrics
