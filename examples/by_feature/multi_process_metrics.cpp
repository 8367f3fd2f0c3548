// The image example with a confusion matrix over all processes: predictions are gathered without the samples that were
// repeated to fill the last batch, each process counts a share of them, and the counts are added up. Look for
// `gather_for_metrics` of a pair, `split_between_processes` and `reduce`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/multi_process_metrics --quick
//
// Expect "of 1000" shirts and an accuracy on exactly 10000 pictures, whatever the number of processes.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with metrics over all processes.");
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
    auto confusion = torch::zeros({10, 10}, torch::kLong);
    for (auto& [pixels, labels] : test) {
      auto [predicted, expected] = accelerator.gather_for_metrics(std::pair(model(pixels).argmax(1), labels));
      num_correct += (predicted == expected).sum().item<int64_t>();
      num_seen += expected.size(0);
      // Every process now holds all samples; each counts those of its own share.
      auto cells = accelerator.split_between_processes(expected * 10 + predicted);
      confusion += torch::bincount(cells, {}, 100).reshape({10, 10});
    }
    auto all = accelerator.reduce(confusion, "sum");
    accelerator.print("shirts taken for T-shirts:", all[6][0].item<int64_t>(), "of", all[6].sum().item<int64_t>());
    accelerator.print("epoch", epoch, "accuracy", static_cast<double>(num_correct) / num_seen, "on", num_seen,
                      "pictures");
  }
  accelerator.end_training();
}
