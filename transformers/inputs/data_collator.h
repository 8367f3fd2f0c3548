#pragma once

// Makes a batch of tokenised texts, each batch as long as its longest text:
//
//   accelerate::DataLoader batches(dataset, {.batch_size = 16, .collate = DataCollatorWithPadding(tokenizer)});

#include <utility>
#include <vector>

#include "transformers/inputs/auto_tokenizer.h"
#include "transformers/inputs/padding.h"

namespace transformers::inputs {

/// A collate function for rows with input_ids and whatever else a model takes. A row's `label` or `label_ids` becomes
/// `labels`, as Python's does.
class DataCollatorWithPadding {
 public:
  explicit DataCollatorWithPadding(const AutoTokenizer& tokenizer, PadOptions options = {});

  /// Throws Error where rows differ in more than their length.
  accelerate::Batch operator()(std::vector<accelerate::Batch> rows) const;

 private:
  PadToken pad_token_;
  PadOptions options_;
};

}  // namespace transformers::inputs

namespace transformers {
using inputs::DataCollatorWithPadding;
}
