// The image example with the same number of samples per step, whatever fits into memory: when memory runs out, batches
// are halved and gradients are accumulated over twice as many. To show it on a machine with enough memory, sizes above
// a quarter of --batch_size are refused. Look for `set_gradient_accumulation_steps` and `reduce_batch_size_fn`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/automatic_gradient_accumulation --quick
//
// Expect tries with 64 and 32, then four batches of 16 per step, and about the accuracy of the base example.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with a fixed number of samples per step.");
  accelerate::Accelerator accelerator;
  accelerate::set_seed(arguments.seed);

  auto train_images = read_fashion_mnist("train", arguments.num_samples);
  auto test_images = read_fashion_mnist("t10k", 10000);
  int64_t next_batch_size = arguments.batch_size;
  auto halve = [&] { return next_batch_size /= 2; };
  // Everything that depends on the batch size is made inside, so that a failed try leaves nothing behind.
  accelerate::find_executable_batch_size(
      [&](int64_t batch_size) {
        accelerator.free_memory();
        accelerator.set_gradient_accumulation_steps(arguments.batch_size / batch_size);
        accelerator.print("trying", accelerator.gradient_accumulation_steps(), "batches of", batch_size, "per step");
        if (batch_size * 4 > arguments.batch_size) throw std::bad_alloc();  // stands for a device that is too small
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
            auto accumulating = accelerator.accumulate(model);
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
      {.starting_batch_size = arguments.batch_size, .reduce_batch_size_fn = halve});
  accelerator.end_training();
}
