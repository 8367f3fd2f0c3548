#pragma once

// A small training program that can be stopped and gone on with: a classifier with dropout and batch norm, trained by
// AdamW with a falling learning rate on shuffled batches, with windows of accumulation.

#include <functional>
#include <vector>

#include "accelerate/accelerator.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/operations.h"
#include "accelerate/train/lr_scheduler.h"
#include "tests/support/torch.h"

namespace accelerate::tests {

struct RunOptions {
  uint64_t seed = 1;
  int64_t accumulation_steps = 1;
  bool use_seedable_sampler = false;
  int64_t num_samples = 20;
  int64_t batch_size = 4;
  int64_t num_hidden = 8;
  int num_epochs = 2;
  MixedPrecision mixed_precision = MixedPrecision::No;
  int64_t zero_stage = 0;
  ProjectConfiguration project = {};
};

inline AcceleratorOptions accelerator_options(const RunOptions& options) {
  at::set_num_threads(1);
  return {.mixed_precision = options.mixed_precision,
          .gradient_accumulation_steps = options.accumulation_steps,
          .cpu = true,
          .dataloader_config = {.use_seedable_sampler = options.use_seedable_sampler},
          .zero_stage = options.zero_stage,
          .project_config = options.project};
}

inline torch::nn::Sequential make_net(const RunOptions& options) {
  set_seed(options.seed);
  torch::nn::Sequential net;
  net->push_back(torch::nn::Linear(4, options.num_hidden));
  net->push_back(torch::nn::BatchNorm1d(options.num_hidden));
  net->push_back(torch::nn::ReLU());
  net->push_back(torch::nn::Dropout(0.2));
  net->push_back(torch::nn::Linear(options.num_hidden, 3));
  return net;
}

inline auto make_batches(const RunOptions& options) {
  auto rows = torch::sin(torch::arange(options.num_samples * 4, torch::kFloat)).reshape({-1, 4});
  return DataLoader(TensorDataset(rows, torch::arange(options.num_samples)),
                    {.batch_size = options.batch_size, .shuffle = true});
}

/// All that such a program has in its main. Making another one is what a new process would do.
class TrainingRun {
 public:
  explicit TrainingRun(const RunOptions& options = {}) : options_(options) {
    set_seed(options.seed, {.device_specific = true});
  }

  /// Trains from where the loader is to the end, or until `go_on` returns false after a step.
  void train(const std::function<bool()>& go_on = [] { return true; }) {
    model->train();
    for (int64_t epoch = loader.iteration(); epoch < options_.num_epochs; ++epoch) {
      for (auto& [rows, numbers] : loader) {
        step(rows, numbers);
        if (!go_on()) return;
      }
    }
  }

  /// The same for that many steps.
  void train_steps(int64_t num_steps) {
    if (num_steps == 0) return;
    train([&] { return --num_steps > 0; });
  }

  std::vector<double> losses;
  std::vector<int64_t> samples;  // which ones this rank has seen

 private:
  void step(const at::Tensor& rows, const at::Tensor& numbers) {
    auto accumulating = accelerator.accumulate(model);
    auto loss = torch::cross_entropy_loss(model(rows), numbers % 3);
    accelerator.backward(loss);
    optimizer.step();
    scheduler.step();
    optimizer.zero_grad();
    losses.push_back(loss.item<double>());
    const auto* seen = numbers.const_data_ptr<int64_t>();
    samples.insert(samples.end(), seen, seen + numbers.numel());
  }

  RunOptions options_;

 public:
  Accelerator accelerator{accelerator_options(options_)};
  torch::nn::Sequential net = make_net(options_);
  torch::optim::AdamW adamw{net->parameters(), torch::optim::AdamWOptions(0.05)};
  LambdaLR lambda_lr{adamw, [](int64_t step) { return 1.0 / (1.0 + static_cast<double>(step)); }};
  decltype(make_batches({})) batches = make_batches(options_);
  decltype(accelerator.prepare(batches)) loader = accelerator.prepare(batches);
  decltype(accelerator.prepare(net)) model = accelerator.prepare(net);
  Optimizer optimizer = accelerator.prepare(adamw);
  Scheduler scheduler = accelerator.prepare(lambda_lr);
};

}  // namespace accelerate::tests
