// Fine-tunes a model on labelled texts, on any number of processes: nlp_single.cpp with four changes, which are the
// include, the Accelerator, prepare and backward. gather_for_metrics measures on all processes together.
//
//   build/bin/nlp_example                                                      one process
//   build/bin/accelerate launch --num_processes 2 build/bin/nlp_example        two
//
// Expect an accuracy of about 0.80 after three epochs on 2,000 reviews of films, printed once.

#include <accelerate/accelerate.h>
#include <transformers/transformers.h>

#include "examples/support/text_classification.h"

using namespace transformers;
using accelerate::metrics::Average;

int main(int argc, char** argv) {
  const auto args = examples::parse_text_arguments(argc, argv, "Fine-tunes a model on labelled texts.");
  accelerate::Accelerator accelerator;
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

  auto net = AutoModelForSequenceClassification::from_pretrained(args.checkpoint, {.num_labels = args.num_labels});
  const auto adamw_options = torch::optim::AdamWOptions(args.learning_rate).weight_decay(args.weight_decay);
  torch::optim::AdamW adamw(net->parameters(), adamw_options);
  auto [train, eval, model, optimizer] = accelerator.prepare(batches(args.train), batches(args.eval), net, adamw);

  const int64_t num_training_steps = args.num_epochs * train.size();
  auto scheduler = get_scheduler(args.scheduler, optimizer,
                                 {.num_warmup_steps = args.num_warmup_steps, .num_training_steps = num_training_steps});

  auto metric = accelerate::metrics::combine({"accuracy", "f1"});
  auto evaluate = [&](const std::string& when) {
    torch::NoGradGuard no_grad;
    model->eval();
    for (auto& batch : eval) {
      auto predictions = model(batch).logits.argmax(-1);
      metric.add_batch(accelerator.gather_for_metrics(std::pair(predictions, batch.at("labels"))));
    }
    examples::print_scores(when, metric.compute({.average = args.num_labels == 2 ? Average::Binary : Average::Macro}));
  };
  evaluate("before");

  accelerate::ProgressBar progress_bar(num_training_steps, {.description = "training"});
  for (int64_t epoch = 1; epoch <= args.num_epochs; ++epoch) {
    model->train();
    for (auto& batch : train) {
      auto outputs = model(batch);
      accelerator.backward(outputs.loss);
      optimizer.step();
      scheduler.step();
      optimizer.zero_grad();
      progress_bar.update(1);
    }
    evaluate("epoch " + std::to_string(epoch));
  }
  accelerator.end_training();
}
