#pragma once

// The classifier on a text's first token that RoBERTa introduced.

#include "transformers/activations.h"
#include "transformers/layers.h"

namespace transformers {

struct ClassificationHeadOptions {
  int64_t hidden_size = 0, num_labels = 0;
  double dropout = 0;
  std::string activation = "tanh";
};

/// A hidden layer and a linear one, each after dropout.
class ClassificationHead : public Block {
 public:
  explicit ClassificationHead(const ClassificationHeadOptions& options);

  /// Logits [batch, labels] from hidden states [batch, length, hidden].
  at::Tensor forward(const at::Tensor& hidden_states);

 private:
  double dropout_;
  Activation activation_;
  Linear dense_, output_;
};

}  // namespace transformers
