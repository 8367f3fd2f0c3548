// Fine-tunes a model on labelled texts, in a plain libtorch loop on one process. nlp_example.cpp is the same program on
// any number of them.
//
//   build/bin/nlp_single
//
// Expect an accuracy of about 0.80 after three epochs on 2,000 reviews of films.

#include <accelerate/base/progress_bar.h>
#include <accelerate/data/data_loader.h>
#include <accelerate/metrics/metric.h>
#include <torch/torch.h>
#include <transformers/transformers.h>

#include "examples/support/text_classification.h"

using namespace transformers;
using accelerate::metrics::Average;

int main(int argc, char** argv) {
  const auto args = examples::parse_text_arguments(argc, argv, "Fine-tunes a model on labelled texts.");
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  torch::manual_seed(args.seed);

  auto tokenizer = AutoTokenizer::from_pretrained(args.checkpoint);
  auto batches = [&](const examples::Split& split) {
    TextDataset texts(split.file, {.num_labels = args.num_labels, .max_rows = split.num_rows});
    return accelerate::DataLoader(TokenizedDataset(texts, tokenizer, {.max_length = args.max_length}),
                                  {.batch_size = split.batch_size,
                                   .shuffle = split.shuffle,
                                   .collate = DataCollatorWithPadding(tokenizer),
                                   .generator = split.generator});
  };
  auto train = batches(args.train);
  auto eval = batches(args.eval);

  auto model = AutoModelForSequenceClassification::from_pretrained(args.checkpoint, {.num_labels = args.num_labels});
  model->to(device);
  const auto adamw_options = torch::optim::AdamWOptions(args.learning_rate).weight_decay(args.weight_decay);
  torch::optim::AdamW optimizer(model->parameters(), adamw_options);

  const int64_t num_training_steps = args.num_epochs * train.size();
  auto scheduler = get_scheduler(args.scheduler, optimizer,
                                 {.num_warmup_steps = args.num_warmup_steps, .num_training_steps = num_training_steps});

  auto metric = accelerate::metrics::combine({"accuracy", "f1"});
  auto evaluate = [&](const std::string& when) {
    torch::NoGradGuard no_grad;
    model->eval();
    for (auto& batch : eval) {
      for (auto& [name, tensor] : batch) tensor = tensor.to(device);
      auto predictions = model(batch).logits.argmax(-1);
      metric.add_batch({predictions, batch.at("labels")});
    }
    examples::print_scores(when, metric.compute({.average = args.num_labels == 2 ? Average::Binary : Average::Macro}));
  };
  evaluate("before");

  accelerate::ProgressBar progress_bar(num_training_steps, {.description = "training"});
  for (int64_t epoch = 1; epoch <= args.num_epochs; ++epoch) {
    model->train();
    for (auto& batch : train) {
      for (auto& [name, tensor] : batch) tensor = tensor.to(device);
      auto outputs = model(batch);
      outputs.loss.backward();
      optimizer.step();
      scheduler.step();
      optimizer.zero_grad();
      progress_bar.update(1);
    }
    evaluate("epoch " + std::to_string(epoch));
  }
}
