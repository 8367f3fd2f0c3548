// The text example as a program for daily use: checkpoints, resuming and tracking behind flags. It may be killed at any
// moment; the same command with --resume_from_checkpoint latest goes on from there, and is right for the first start
// too.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/complete_nlp_example --checkpointing_steps epoch
//   build/bin/accelerate launch --num_processes 2 build/bin/complete_nlp_example --resume_from_checkpoint latest
//
// Both commands take both flags, and --with_tracking to log the metrics.
// Precision and gradient accumulation are the launcher's: --mixed_precision bf16 --gradient_accumulation_steps 4.
// Expect an accuracy of about 0.80 after three epochs. Below --output_dir are then the directories checkpoints,
// complete_nlp_example with the metrics, and model, which `from_pretrained` reads here and in Python.

#include <accelerate/accelerate.h>
#include <transformers/transformers.h>

#include "examples/support/text_classification.h"

using namespace transformers;
using accelerate::metrics::Average;

/// What has to survive besides the model, its optimizer and schedule and the place in the data.
struct Progress {
  int64_t step = 0;
  double total_loss = 0;  // of this epoch

  accelerate::TorchValue state_dict() const {
    return accelerate::TorchValue::dict({{"step", step}, {"total_loss", total_loss}});
  }
  void load_state_dict(const accelerate::TorchValue& state) {
    step = state.at("step").integer();
    total_loss = state.at("total_loss").number();
  }
};

int main(int argc, char** argv) {
  examples::CheckpointArguments checkpoints{.output_dir = "runs"};
  examples::TrackingArguments tracking;
  const auto args = examples::parse_text_arguments(argc, argv, "The text example with checkpoints and tracking.",
                                                   &checkpoints, &tracking);
  accelerate::Accelerator accelerator(
      {.log_with = {"jsonl", "tensorboard"},
       .project_config = {
           .project_dir = checkpoints.output_dir, .automatic_checkpoint_naming = true, .total_limit = 2}});
  torch::manual_seed(args.seed);
  if (tracking.with_tracking) {
    accelerator.init_trackers("complete_nlp_example", {{"checkpoint", args.checkpoint},
                                                       {"batch_size", args.train.batch_size},
                                                       {"learning_rate", args.learning_rate},
                                                       {"num_epochs", args.num_epochs}});
  }

  auto tokenizer = AutoTokenizer::from_pretrained(args.checkpoint);
  auto batches = [&](const examples::Split& split) {
    TextDataset texts(split.file, {.num_labels = args.num_labels, .max_rows = split.num_rows});
    return accelerate::DataLoader(TokenizedDataset(texts, tokenizer, {.max_length = args.max_length}),
                                  {.batch_size = split.batch_size,
                                   .shuffle = split.shuffle,
                                   .collate = DataCollatorWithPadding(tokenizer),
                                   .generator = split.generator});
  };
  auto train_batches = batches(args.train);
  auto eval_batches = batches(args.eval);

  auto net = AutoModelForSequenceClassification::from_pretrained(args.checkpoint, {.num_labels = args.num_labels});
  const auto adamw_options = torch::optim::AdamWOptions(args.learning_rate).weight_decay(args.weight_decay);
  torch::optim::AdamW adamw(net->parameters(), adamw_options);
  // A prepared schedule is part of checkpoints. It advances once per process and step, so its length is that of one
  // process.
  const int64_t schedule_length = args.num_epochs * train_batches.size();
  auto lr_scheduler = get_scheduler(args.scheduler, adamw,
                                    {.num_warmup_steps = args.num_warmup_steps, .num_training_steps = schedule_length});
  auto [train, eval, model, optimizer, scheduler] =
      accelerator.prepare(train_batches, eval_batches, net, adamw, lr_scheduler);

  const int64_t num_batches = train.size();  // before load_state: a resumed loader has the rest of its epoch left

  Progress progress;
  accelerator.register_for_checkpointing(progress);
  if (checkpoints.resumes_latest()) {
    if (accelerator.has_checkpoint()) accelerator.load_state();
  } else if (!checkpoints.resume_from_checkpoint.empty()) {
    accelerator.load_state(checkpoints.resume_from_checkpoint);
  }

  accelerate::ProgressBar progress_bar(args.num_epochs * num_batches, {.description = "training"});
  progress_bar.update(progress.step);
  for (int64_t epoch = train.iteration(); epoch < args.num_epochs; ++epoch) {
    model->train();
    for (auto& batch : train) {
      auto accumulating = accelerator.accumulate(model);
      auto outputs = model(batch);
      accelerator.backward(outputs.loss);
      optimizer.step();
      scheduler.step();
      optimizer.zero_grad();
      progress.total_loss += outputs.loss.item<double>();
      progress_bar.update(1);
      if (checkpoints.is_due(++progress.step)) accelerator.save_state();
    }

    torch::NoGradGuard no_grad;
    model->eval();
    auto metric = accelerate::metrics::combine({"accuracy", "f1"});
    for (auto& batch : eval) {
      auto predictions = model(batch).logits.argmax(-1);
      metric.add_batch(accelerator.gather_for_metrics(std::pair(predictions, batch.at("labels"))));
    }
    const auto scores = metric.compute({.average = args.num_labels == 2 ? Average::Binary : Average::Macro});
    examples::print_scores("epoch " + std::to_string(epoch + 1), scores);
    if (tracking.with_tracking) {
      accelerator.log({{"accuracy", scores["accuracy"]},
                       {"f1", scores["f1"]},
                       {"train_loss", progress.total_loss / num_batches},
                       {"epoch", epoch}},
                      progress.step);
    }
    progress.total_loss = 0;
    if (checkpoints.is_due_after_epoch()) accelerator.save_state();
  }

  accelerator.wait_for_everyone();
  if (accelerator.is_main_process()) net->save_pretrained(checkpoints.output_dir + "/model");
  accelerator.end_training();
}
