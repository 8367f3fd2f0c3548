// The image example as a function that starts its own processes: no launcher is needed, as in a notebook. Look for
// `notebook_launcher`.
//
//   build/bin/notebook_launcher --quick
//
// Expect the accuracy of the base example on two processes, printed by the process that started them.

#include <accelerate/accelerate.h>

#include <iostream>

#include "examples/support/fashion_mnist.h"

using namespace examples;

/// The accuracy after each epoch, on all test pictures; the same on every rank.
std::vector<double> training_function(int64_t num_epochs, int64_t batch_size, int64_t num_samples, double learning_rate,
                                      uint64_t seed) {
  accelerate::Accelerator accelerator;
  accelerate::set_seed(seed);

  auto train_images = read_fashion_mnist("train", num_samples);
  auto test_images = read_fashion_mnist("t10k", 10000);
  accelerate::DataLoader train_batches(accelerate::TensorDataset(train_images.pixels, train_images.labels),
                                       {.batch_size = batch_size, .shuffle = true});
  accelerate::DataLoader test_batches(accelerate::TensorDataset(test_images.pixels, test_images.labels),
                                      {.batch_size = 256});

  ConvNet net;
  torch::optim::AdamW adamw(net->parameters(), learning_rate);
  auto [train, test, model, optimizer] = accelerator.prepare(train_batches, test_batches, net, adamw);

  std::vector<double> accuracies;
  for (int64_t epoch = 0; epoch < num_epochs; ++epoch) {
    model->train();
    for (auto& [pixels, labels] : train) {
      auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
    }

    model->eval();
    torch::NoGradGuard no_grad;
    int64_t num_correct = 0, num_seen = 0;
    for (auto& [pixels, labels] : test) {
      auto correct = accelerator.gather_for_metrics(model(pixels).argmax(1) == labels);
      num_correct += correct.sum().item<int64_t>();
      num_seen += correct.size(0);
    }
    accelerator.print("epoch", epoch, "is over,", num_seen, "pictures were tried");
    accuracies.push_back(static_cast<double>(num_correct) / num_seen);
  }
  accelerator.end_training();
  return accuracies;
}

int main(int argc, char** argv) {
  auto [num_epochs, batch_size, num_samples, learning_rate, seed] =
      parse_arguments(argc, argv, "The image example, started from code.");
  auto results = accelerate::notebook_launcher(training_function, {.num_processes = 2}, num_epochs, batch_size,
                                               num_samples, learning_rate, seed);
  const auto& accuracies = results.front();
  for (size_t epoch = 0; epoch < accuracies.size(); ++epoch) {
    std::cout << "epoch " << epoch << " accuracy " << accuracies[epoch] << " on 10000 pictures\n";
  }
}
