#include "transformers/classification_head.h"

namespace transformers {

ClassificationHead::ClassificationHead(const ClassificationHeadOptions& options)
    : dropout_(options.dropout),
      activation_(activation(options.activation)),
      dense_(linear("dense", options.hidden_size, options.hidden_size)),
      output_(linear("out_proj", options.hidden_size, options.num_labels)) {}

at::Tensor ClassificationHead::forward(const at::Tensor& hidden_states) {
  auto x = dropout(hidden_states.select(1, 0), dropout_);
  x = activation_(dense_(x));
  return output_(dropout(x, dropout_));
}

}  // namespace transformers
