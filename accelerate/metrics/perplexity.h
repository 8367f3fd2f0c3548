#pragma once

// Perplexity of a language model: exp of the mean cross entropy. Private to this room.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::metrics {

/// Sums the losses of tokens over batches.
class TokenLosses {
 public:
  /// Logits [..., vocabulary] and labels [...]; labels of -100 are ignored. Without labels, `predictions` are losses.
  void add(const at::Tensor& predictions, const at::Tensor& references);

  /// The losses of all ranks together. Collective.
  TokenLosses gathered(const comm::Group& group) const;

  int64_t count() const { return count_; }

  /// exp of the mean loss.
  double perplexity() const;

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

}  // namespace accelerate::metrics
