// The image example with an optimizer that takes a closure: LBFGS computes loss and gradients several times per step.
// Every process has to take the same decisions, so the closure returns the loss of all processes, not of this one.
// Look for `closure`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/closure --quick
//
// Expect an accuracy of about 0.75 after this short run.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with LBFGS.");
  accelerate::Accelerator accelerator;
  accelerate::set_seed(arguments.seed);

  auto train_images = read_fashion_mnist("train", arguments.num_samples);
  auto test_images = read_fashion_mnist("t10k", 10000);
  accelerate::DataLoader train_batches(accelerate::TensorDataset(train_images.pixels, train_images.labels),
                                       {.batch_size = arguments.batch_size, .shuffle = true});
  accelerate::DataLoader test_batches(accelerate::TensorDataset(test_images.pixels, test_images.labels),
                                      {.batch_size = 256});

  ConvNet net;
  torch::optim::LBFGS lbfgs(net->parameters(), torch::optim::LBFGSOptions(0.1).max_iter(4).history_size(10));
  auto [train, test, model, optimizer] = accelerator.prepare(train_batches, test_batches, net, lbfgs);

  for (int64_t epoch = 0; epoch < arguments.num_epochs; ++epoch) {
    model->train();
    accelerate::ProgressBar progress_bar(train.size(), {.description = "epoch " + std::to_string(epoch)});
    for (auto& [pixels, labels] : train) {
      auto closure = [&] {
        optimizer.zero_grad();
        auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
        accelerator.backward(loss);
        return accelerator.reduce(loss.detach(), "mean");
      };
      optimizer.step(closure);
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
