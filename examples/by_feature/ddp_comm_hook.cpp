// The image example with a communication hook: gradients travel between processes as products of two narrow matrices
// (PowerSGD), and those in bfloat16. Look for `register_comm_hook`. Without the statistics it is one option:
// `.distributed_data_parallel = {.comm_hook = CommHook::PowerSGD, .comm_wrapper = CommHook::Bf16}`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/ddp_comm_hook --quick
//
// Expect nearly the accuracy of the base example, and gradients with a 25th of the elements.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with a communication hook.");
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
  auto compression = std::make_shared<accelerate::PowerSGDState>(
      accelerate::PowerSGDOptions{.matrix_approximation_rank = 4, .start_powerSGD_iter = 10});
  model.register_comm_hook(accelerate::bf16_compress_wrapper(accelerate::powerSGD_hook(compression)));

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
    const auto stats = compression->compression_stats();
    accelerator.print("gradients of", stats.numel_before_compression, "elements travelled as",
                      stats.numel_after_compression);
    accelerator.print("epoch", epoch, "accuracy", static_cast<double>(num_correct) / num_seen, "on", num_seen,
                      "pictures");
  }
  accelerator.end_training();
}
