#pragma once

// How surprised a language model is by the right tokens. Private to this room.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::metrics {

class TokenLosses {
 public:
  /// Logits [..., vocabulary] and labels [...]; labels of -100 do not count. Without labels, `predictions` are losses.
  void add(const at::Tensor& predictions, const at::Tensor& references);

  /// Those of all ranks. Collective.
  TokenLosses gathered(const comm::Group& group) const;

  int64_t count() const { return count_; }

  /// exp of the mean loss.
  double perplexity() const;

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

}  // namespace accelerate::metrics
