// The image example with checkpoints: it may be stopped at any moment and goes on from where it was. Look for
// `save_state` and `load_state`, and for the object that is registered to be part of a checkpoint.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/checkpointing --quick --checkpointing_steps 20
//   build/bin/accelerate launch --num_processes 2 build/bin/checkpointing --quick --resume_from_checkpoint step_40
//
// Expect the same accuracy from both, to the last digit.

#include <accelerate/accelerate.h>

#include <filesystem>

#include "examples/support/fashion_mnist.h"

using namespace examples;

/// How far the training is. Any object with these two members can be part of a checkpoint.
struct StepCounter {
  int64_t step = 0;

  accelerate::TorchValue state_dict() const { return accelerate::TorchValue::dict({{"step", step}}); }
  void load_state_dict(const accelerate::TorchValue& state) { step = state.at("step").integer(); }
};

int main(int argc, char** argv) {
  CheckpointArguments checkpoints;
  auto arguments = parse_arguments(argc, argv, "The image example with checkpoints.", &checkpoints);
  const std::filesystem::path output_dir = checkpoints.output_dir;
  accelerate::Accelerator accelerator;
  accelerate::set_seed(arguments.seed);

  auto train_images = read_fashion_mnist("train", arguments.num_samples);
  auto test_images = read_fashion_mnist("t10k", 10000);
  accelerate::DataLoader train_batches(accelerate::TensorDataset(train_images.pixels, train_images.labels),
                                       {.batch_size = arguments.batch_size, .shuffle = true});
  accelerate::DataLoader test_batches(accelerate::TensorDataset(test_images.pixels, test_images.labels),
                                      {.batch_size = 256});

  ConvNet net;
  torch::optim::AdamW adamw(net->parameters(), arguments.learning_rate);
  auto [train, test, model, optimizer] = accelerator.prepare(train_batches, test_batches, net, adamw);

  StepCounter counter;
  accelerator.register_for_checkpointing(counter);
  if (!checkpoints.resume_from_checkpoint.empty()) accelerator.load_state(checkpoints.resume_from_checkpoint);

  for (int64_t epoch = train.iteration(); epoch < arguments.num_epochs; ++epoch) {
    model->train();
    accelerate::ProgressBar progress_bar(train.size(), {.description = "epoch " + std::to_string(epoch)});
    for (auto& [pixels, labels] : train) {
      auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      progress_bar.update(1);
      if (checkpoints.is_due(++counter.step)) {
        accelerator.save_state(output_dir / ("step_" + std::to_string(counter.step)));
      }
    }
    progress_bar.close();
    if (checkpoints.is_due_after_epoch()) accelerator.save_state(output_dir / ("epoch_" + std::to_string(epoch)));

    model->eval();
    torch::NoGradGuard no_grad;
    int64_t num_correct = 0, num_seen = 0;
    for (auto& [pixels, labels] : test) {
      auto correct = accelerator.gather_for_metrics(model(pixels).argmax(1) == labels);
      num_correct += correct.sum().item<int64_t>();
      num_seen += correct.size(0);
    }
    accelerator.print("epoch", epoch, "accuracy", static_cast<double>(num_correct) / num_seen, "on", num_seen,
                      "pictures");
  }
  accelerator.end_training();
}
