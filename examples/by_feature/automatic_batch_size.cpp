// The image example with a batch size found by trying: when memory runs out, training starts again with nine tenths of
// the size. To show it on a machine with enough memory, sizes above half of --batch_size are refused. Look for
// `find_executable_batch_size`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/automatic_batch_size --quick
//
// Expect tries from 64 down to 32, then about the accuracy of the base example.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with a batch size found by trying.");
  accelerate::Accelerator accelerator;
  accelerate::set_seed(arguments.seed);

  auto train_images = read_fashion_mnist("train", arguments.num_samples);
  auto test_images = read_fashion_mnist("t10k", 10000);
  // Everything that depends on the batch size is made inside, so that a failed try leaves nothing behind.
  accelerate::find_executable_batch_size(
      [&](int64_t batch_size) {
        accelerator.free_memory();
        accelerator.print("trying batches of", batch_size);
        if (batch_size * 2 > arguments.batch_size) throw std::bad_alloc();  // stands for a device that is too small
        accelerate::DataLoader train_batches(accelerate::TensorDataset(train_images.pixels, train_images.labels),
                                             {.batch_size = batch_size, .shuffle = true});
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
          for (auto& [pixels, labels] : test) {
            auto correct = accelerator.gather_for_metrics(model(pixels).argmax(1) == labels);
            num_correct += correct.sum().item<int64_t>();
            num_seen += correct.size(0);
          }
          accelerator.print("epoch", epoch, "accuracy", static_cast<double>(num_correct) / num_seen, "on", num_seen,
                            "pictures");
        }
        accelerator.free_memory();  // `adamw` ends here
      },
      arguments.batch_size);
  accelerator.end_training();
}
