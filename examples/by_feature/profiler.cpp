// The image example with the profiler: after ten steps without it and one to warm up, three steps are recorded. Look
// for `profile`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/profiler --quick
//
// Expect the accuracy of the base example, and a trace of each process in traces/profile_<rank>.json, to be opened with
// https://ui.perfetto.dev or chrome://tracing.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with the profiler.");
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
    auto profile = accelerator.profile(
        {.schedule_option = accelerate::ProfileSchedule{.wait = 10, .warmup = 1, .active = 3, .repeat = 1},
         .record_shapes = true,
         .output_trace_dir = "traces"});
    for (auto& [pixels, labels] : train) {
      auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      profile.step();
      progress_bar.update(1);
    }
    profile.finish();
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
