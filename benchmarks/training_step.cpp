// One training step of a small model; benchmarks/python/training_step.py is the same loop in Python. With --bare it is
// written against libtorch alone, with the fused kernel called by hand: the least that a loop in C++ can cost.

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "benchmarks/side.h"

namespace {

constexpr int64_t kBatchSize = 8, kInputs = 32, kHidden = 64, kClasses = 10, kBatches = 16;
constexpr double kLearningRate = 1e-5;  // as in Python, where it is explained

struct Batches {
  std::vector<at::Tensor> inputs, labels;
};

Batches make_batches(int rank) {
  const int64_t count = kBatches * kBatchSize;
  auto numbers = torch::arange(count * kInputs) + rank * count * kInputs;
  auto inputs = ((numbers * 7919 % 1009).to(torch::kFloat) / 1009 - 0.5).view({kBatches, kBatchSize, kInputs});
  auto labels = ((torch::arange(count) + rank) * 7 % kClasses).view({kBatches, kBatchSize});
  return {inputs.unbind(), labels.unbind()};
}

torch::nn::Sequential make_model() {
  using namespace torch::nn;
  Sequential model;  // layer by layer, so that the weights are drawn in the order of Python's
  model->push_back(Linear(kInputs, kHidden));
  model->push_back(ReLU());
  model->push_back(Linear(kHidden, kHidden));
  model->push_back(ReLU());
  model->push_back(Linear(kHidden, kClasses));
  return model;
}

/// Calls `step(inputs, labels)`, which returns the loss, and reports.
template <class Step, class Barrier>
void measure(const bench::Arguments& arguments, const Batches& batches, Barrier barrier, Step step) {
  const int64_t warmup = arguments.number("--warmup", 100), steps = arguments.number("--steps", 2000);
  std::vector<at::Tensor> losses;
  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < warmup + steps; ++i) {
    if (i == warmup) {
      barrier();
      stopwatch = {};
    }
    auto loss = step(batches.inputs[i % kBatches], batches.labels[i % kBatches]);
    if (i % 50 == 0) losses.push_back(loss.detach());
  }
  const double wall_seconds = stopwatch.wall_seconds(), cpu_seconds = stopwatch.cpu_seconds();
  std::vector<double> values;
  for (const auto& loss : losses) values.push_back(loss.item<double>());
  bench::report(steps, wall_seconds, cpu_seconds, values);
}

void prepared_loop(const bench::Arguments& arguments) {
  accelerate::Accelerator accelerator({.cpu = true});
  accelerate::set_seed(0);
  auto net = make_model();
  torch::optim::AdamW adamw(net->parameters(), kLearningRate);
  auto [model, optimizer] = accelerator.prepare(net, adamw);
  auto wait = [&] { accelerator.wait_for_everyone(); };
  measure(arguments, make_batches(accelerator.process_index()), wait, [&](const auto& inputs, const auto& labels) {
    auto loss = torch::cross_entropy_loss(model(inputs), labels);
    accelerator.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    return loss;
  });
  accelerator.end_training();
}

void bare_loop(const bench::Arguments& arguments) {
  torch::manual_seed(0);
  auto model = make_model();
  auto parameters = model->parameters();
  std::vector<at::Tensor> first_moments, second_moments, steps;
  for (const auto& parameter : parameters) {
    first_moments.push_back(torch::zeros_like(parameter));
    second_moments.push_back(torch::zeros_like(parameter));
    steps.push_back(torch::zeros({}));
  }
  measure(
      arguments, make_batches(0), [] {},
      [&](const auto& inputs, const auto& labels) {
        auto loss = torch::cross_entropy_loss(model->forward(inputs), labels);
        loss.backward();
        torch::NoGradGuard no_grad;
        std::vector<at::Tensor> gradients;
        for (auto& parameter : parameters) gradients.push_back(std::move(parameter.mutable_grad()));
        at::_foreach_add_(steps, 1);
        at::_fused_adamw_(parameters, gradients, first_moments, second_moments, /*max_exp_avg_sqs=*/{}, steps,
                          kLearningRate,
                          /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.01, /*eps=*/1e-8, /*amsgrad=*/false,
                          /*maximize=*/false);
        return loss;
      });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  if (arguments.has("--bare"))
    bare_loop(arguments);
  else
    prepared_loop(arguments);
}
