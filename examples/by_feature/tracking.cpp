// The image example with trackers: the loss of every tenth step, the accuracy of every epoch, some pictures and the
// weights go to a file of JSON lines and to TensorBoard. Look for `init_trackers` and `log`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/tracking --quick
//   tensorboard --logdir runs
//
// Expect the accuracy of the base example, and the files runs/tracking/metrics.jsonl and
// runs/tracking/events.out.tfevents.*, written by the main process alone.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with trackers.");
  accelerate::Accelerator accelerator({.log_with = {"jsonl", "tensorboard"}, .project_dir = "runs"});
  accelerator.init_trackers("tracking",
                            {{"batch_size", arguments.batch_size}, {"learning_rate", arguments.learning_rate}});
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

  accelerator.log_images({{"samples", test_images.pixels.slice(0, 0, 16)}}, 0);
  int64_t step = 0;
  for (int64_t epoch = 0; epoch < arguments.num_epochs; ++epoch) {
    model->train();
    accelerate::ProgressBar progress_bar(train.size(), {.description = "epoch " + std::to_string(epoch)});
    for (auto& [pixels, labels] : train) {
      auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      if (step % 10 == 0) accelerator.log({{"loss", loss}}, step);
      ++step;
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
    accelerator.log({{"accuracy", static_cast<double>(num_correct) / num_seen}, {"epoch", epoch}}, step);
    accelerator.log_histograms({{"output/weight", net->output->weight}}, step);
    accelerator.print("epoch", epoch, "accuracy", static_cast<double>(num_correct) / num_seen, "on", num_seen,
                      "pictures");
  }
  accelerator.end_training();
}
