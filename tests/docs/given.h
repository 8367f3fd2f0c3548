#pragma once

// What statements on a page may use without a declaration: the objects of the tutorial. A page that needs others
// declares them in a comment (CONTRIBUTING.md). It is compiled, and never run.

#include <accelerate/accelerate.h>
#include <transformers/transformers.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace given {

using namespace accelerate;
using namespace transformers;

struct Objects {
  Accelerator& accelerator;
  AutoModelForSequenceClassification& net;
  torch::optim::AdamW& adamw;
  DataLoader<Batch>&train_batches, &eval_batches;

  PreparedDataLoader<Batch>&train, &eval;
  decltype(std::declval<Accelerator&>().prepare(std::declval<AutoModelForSequenceClassification&>()))& model;
  Optimizer& optimizer;
  LRScheduler& scheduler;

  std::string& checkpoint;
  std::vector<std::string>& texts;
  TextDataset& train_texts;
  TokenizedDataset& train_dataset;
  AutoTokenizer& tokenizer;
  DataCollatorWithPadding& collate;

  Batch& batch;
  SequenceClassifierOutput& outputs;
  torch::Tensor &loss, &logits, &predictions, &labels;
  int64_t num_training_steps, num_steps, num_epochs, epoch, step;
};

}  // namespace given
