#include "transformers/inputs/data_collator.h"

namespace transformers::inputs {

DataCollatorWithPadding::DataCollatorWithPadding(const AutoTokenizer& tokenizer, PadOptions options)
    : pad_token_(tokenizer.pad_token()), options_(options) {
  if (!options_.max_length) options_.max_length = tokenizer.model_max_length();
}

accelerate::Batch DataCollatorWithPadding::operator()(std::vector<accelerate::Batch> rows) const {
  auto batch = pad(rows, pad_token_, options_);
  for (const char* name : {"label", "label_ids"}) {
    if (!batch.contains(name)) continue;
    auto labels = batch.at(name);
    batch.erase(name);
    batch["labels"] = labels;
  }
  return batch;
}

}  // namespace transformers::inputs
