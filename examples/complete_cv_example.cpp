// The image example as a program for daily use: checkpoints, resuming and tracking behind flags. It may be killed at
// any moment; the same command with --resume_from_checkpoint latest goes on from there, and is right for the first
// start too.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/complete_cv_example --checkpointing_steps epoch
//   build/bin/accelerate launch --num_processes 2 build/bin/complete_cv_example --resume_from_checkpoint latest
//
// Both commands take both flags, and --with_tracking to log the metrics.
// Precision and gradient accumulation are the launcher's: --mixed_precision bf16 --gradient_accumulation_steps 4.
// Expect an accuracy of about 0.87 after two epochs, and below --output_dir the directories checkpoints and
// complete_cv_example.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

/// What has to survive besides the model, its optimizer and the place in the data.
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
  CheckpointArguments checkpoints{.output_dir = "runs"};
  TrackingArguments tracking;
  auto arguments =
      parse_arguments(argc, argv, "The image example with checkpoints and tracking.", &checkpoints, &tracking);
  accelerate::Accelerator accelerator(
      {.log_with = {"jsonl", "tensorboard"},
       .project_config = {
           .project_dir = checkpoints.output_dir, .automatic_checkpoint_naming = true, .total_limit = 2}});
  accelerate::set_seed(arguments.seed);
  if (tracking.with_tracking) {
    accelerator.init_trackers("complete_cv_example", {{"batch_size", arguments.batch_size},
                                                      {"learning_rate", arguments.learning_rate},
                                                      {"num_epochs", arguments.num_epochs}});
  }

  auto train_images = read_fashion_mnist("train", arguments.num_samples);
  auto test_images = read_fashion_mnist("t10k", 10000);
  accelerate::DataLoader train_batches(accelerate::TensorDataset(train_images.pixels, train_images.labels),
                                       {.batch_size = arguments.batch_size, .shuffle = true});
  accelerate::DataLoader test_batches(accelerate::TensorDataset(test_images.pixels, test_images.labels),
                                      {.batch_size = 256});

  ConvNet net;
  torch::optim::AdamW adamw(net->parameters(), arguments.learning_rate);
  auto [train, test, model, optimizer] = accelerator.prepare(train_batches, test_batches, net, adamw);

  const int64_t num_batches = train.size();  // before load_state: a resumed loader has the rest of its epoch left

  Progress progress;
  accelerator.register_for_checkpointing(progress);
  if (checkpoints.resumes_latest()) {
    if (accelerator.has_checkpoint()) accelerator.load_state();
  } else if (!checkpoints.resume_from_checkpoint.empty()) {
    accelerator.load_state(checkpoints.resume_from_checkpoint);
  }

  accelerate::ProgressBar progress_bar(arguments.num_epochs * num_batches, {.description = "training"});
  progress_bar.update(progress.step);
  for (int64_t epoch = train.iteration(); epoch < arguments.num_epochs; ++epoch) {
    model->train();
    for (auto& [pixels, labels] : train) {
      auto accumulating = accelerator.accumulate(model);
      auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      progress.total_loss += loss.item<double>();
      progress_bar.update(1);
      if (checkpoints.is_due(++progress.step)) accelerator.save_state();
    }

    model->eval();
    torch::NoGradGuard no_grad;
    int64_t num_correct = 0, num_seen = 0;
    for (auto& [pixels, labels] : test) {
      auto correct = accelerator.gather_for_metrics(model(pixels).argmax(1) == labels);
      num_correct += correct.sum().item<int64_t>();
      num_seen += correct.size(0);
    }
    const auto accuracy = static_cast<double>(num_correct) / num_seen;
    accelerator.print("epoch", epoch, "accuracy", accuracy, "on", num_seen, "pictures");
    if (tracking.with_tracking) {
      accelerator.log({{"accuracy", accuracy}, {"train_loss", progress.total_loss / num_batches}, {"epoch", epoch}},
                      progress.step);
    }
    progress.total_loss = 0;
    if (checkpoints.is_due_after_epoch()) accelerator.save_state();
  }
  accelerator.end_training();
}
