// The image example with early stopping: a process whose loss has not fallen for some steps sets a trigger, and all
// processes leave the loop in the same step. Look for `set_trigger` and `check_trigger`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/early_stopping --quick
//
// Expect a stop before the end of the epoch, and a little less than the accuracy of the base example.

#include <accelerate/accelerate.h>

#include <limits>

#include "examples/support/fashion_mnist.h"

using namespace examples;

/// Notices a loss that no longer falls.
class EarlyStopping {
 public:
  explicit EarlyStopping(int64_t patience, double min_delta = 0) : patience_(patience), min_delta_(min_delta) {}

  /// Whether the last `patience` losses are not below the lowest one before them by more than `min_delta`.
  bool should_stop(double loss) {
    bool improved = loss < lowest_loss_ - min_delta_;
    num_steps_without_progress_ = improved ? 0 : num_steps_without_progress_ + 1;
    if (improved) lowest_loss_ = loss;
    return num_steps_without_progress_ >= patience_;
  }

 private:
  int64_t patience_;
  double min_delta_;
  double lowest_loss_ = std::numeric_limits<double>::infinity();
  int64_t num_steps_without_progress_ = 0;
};

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with early stopping.");
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

  EarlyStopping early_stopping(/*patience=*/15);
  bool stopped = false;
  for (int64_t epoch = 0; epoch < arguments.num_epochs && !stopped; ++epoch) {
    model->train();
    accelerate::ProgressBar progress_bar(train.size(), {.description = "epoch " + std::to_string(epoch)});
    for (auto& [pixels, labels] : train) {
      auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      progress_bar.update(1);
      // Each process looks at the loss of its own batch; one that has seen enough stops all of them.
      if (early_stopping.should_stop(loss.item<double>())) accelerator.set_trigger();
      stopped = accelerator.check_trigger();
      if (stopped) break;
    }
    progress_bar.close();
    if (stopped) accelerator.print("stopped after step", progress_bar.done(), "of", train.size());

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
