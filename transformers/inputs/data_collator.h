#pragma once

// Collates tokenised texts into a batch and pads them to the longest text of the batch:
//
//   accelerate::DataLoader batches(dataset, {.batch_size = 16, .collate = DataCollatorWithPadding(tokenizer)});

#include <utility>
#include <vector>

#include "transformers/inputs/auto_tokenizer.h"
#include "transformers/inputs/padding.h"

namespace transformers::inputs {

/// A collate function for rows with input_ids and further inputs of a model. As in Python, `label` or `label_ids` of a
/// row is renamed to `labels`.
class DataCollatorWithPadding {
 public:
  explicit DataCollatorWithPadding(const AutoTokenizer& tokenizer, PadOptions options = {});

  /// Throws Error if rows differ in more than their length.
  accelerate::Batch operator()(std::vector<accelerate::Batch> rows) const;

 private:
  PadToken pad_token_;
  PadOptions options_;
};

}  // namespace transformers::inputs

namespace transformers {
using inputs::DataCollatorWithPadding;
}
