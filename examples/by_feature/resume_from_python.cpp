// The image example gone on with from a checkpoint that Python's Accelerate has saved: weights, the state of AdamW and
// the random numbers are Python's, and so are the numbers that come out. Look for `load_state`.
//
//   build/bin/accelerate launch --num_processes 2 examples/by_feature/resume_from_python.py --output_dir run
//   build/bin/accelerate launch --num_processes 2 build/bin/resume_from_python --quick --resume_from_checkpoint run
//
// Expect a higher accuracy than the first prints: it has trained for one epoch, and this one for another.

#include <accelerate/accelerate.h>

#include <iostream>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  CheckpointArguments checkpoints;
  auto arguments =
      parse_arguments(argc, argv, "The image example gone on with from Python's checkpoint.", &checkpoints);
  if (checkpoints.resume_from_checkpoint.empty()) {
    std::cerr << "give --resume_from_checkpoint the directory that resume_from_python.py has made\n";
    return 2;
  }
  // Python's AdamW is not fused unless one asks for it; with the same arithmetic its run goes on to the bit.
  accelerate::Accelerator accelerator({.fused_optimizers = false});
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
  accelerator.load_state(checkpoints.resume_from_checkpoint);

  for (int64_t epoch = 0; epoch < arguments.num_epochs; ++epoch) {
    model->train();
    accelerate::ProgressBar progress_bar(train.size(), {.description = "epoch " + std::to_string(epoch)});
    for (auto& [pixels, labels] : train) {
      auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      progress_bar.update(1);
    }
    progress_bar.close();

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
