// One training step of a small model; benchmarks/python/training_step.py is the same loop in Python. With --bare it is
// written against libtorch alone, with the fused kernel called by hand: the least that a loop in C++ can cost. With
// --from_start the time is that since the process, or its launcher, began. With --for_ever it goes on until another
// rank has ended, and prints when it is ready for that and when it has noticed.

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "benchmarks/side.h"

namespace {

constexpr int64_t kBatches = 16;
constexpr double kLearningRate = 1e-5;  // as in Python, where it is explained

struct Shape {
  int64_t batch_size;
  std::vector<int64_t> widths;  // of the inputs, between the layers, and of the classes
};

/// A few thousand weights, or 6.3 million.
Shape shape_of(const bench::Arguments& arguments) {
  if (arguments.has("--wide")) return {32, std::vector<int64_t>(7, 1024)};
  return {8, {32, 64, 64, 10}};
}

struct Batches {
  std::vector<at::Tensor> inputs, labels;
};

Batches make_batches(int rank, const Shape& shape) {
  const int64_t count = kBatches * shape.batch_size, width = shape.widths.front();
  auto numbers = torch::arange(count * width) + rank * count * width;
  auto inputs = ((numbers * 7919 % 1009).to(torch::kFloat) / 1009 - 0.5).view({kBatches, shape.batch_size, width});
  auto labels = ((torch::arange(count) + rank) * 7 % shape.widths.back()).view({kBatches, shape.batch_size});
  return {inputs.unbind(), labels.unbind()};
}

torch::nn::Sequential make_model(const Shape& shape) {
  using namespace torch::nn;
  Sequential model;  // layer by layer, so that the weights are drawn in the order of Python's
  for (size_t i = 1; i < shape.widths.size(); ++i) {
    if (i > 1) model->push_back(ReLU());
    model->push_back(Linear(shape.widths[i - 1], shape.widths[i]));
  }
  return model;
}

/// Calls `step(inputs, labels, laps)`, which returns the loss, and reports.
template <class Step, class Barrier>
void measure(const bench::Arguments& arguments, const Batches& batches, Barrier barrier, Step step) {
  const int64_t warmup = arguments.number("--warmup", 100), steps = arguments.number("--steps", 2000);
  std::vector<at::Tensor> losses;
  bench::Stopwatch stopwatch;
  bench::Laps laps;
  for (int64_t i = 0; i < warmup + steps; ++i) {
    if (i == warmup) {
      barrier();
      stopwatch = {};
      laps = {};
    }
    auto loss = step(batches.inputs[i % kBatches], batches.labels[i % kBatches], laps);
    if (i % 50 == 0) losses.push_back(loss.detach());
  }
  const double wall_seconds = stopwatch.wall_seconds(), cpu_seconds = stopwatch.cpu_seconds();
  std::vector<double> values;
  for (const auto& loss : losses) values.push_back(loss.item<double>());
  auto figures = laps.per_step(steps);
  if (arguments.has("--from_start")) figures.update(bench::since_start());
  bench::report(steps, wall_seconds, cpu_seconds, values, figures);
}

template <class Step>
void step_until_a_rank_ends(const Batches& batches, Step step) {
  bench::Laps laps;
  try {
    for (int64_t i = 0;; ++i) {
      step(batches.inputs[i % kBatches], batches.labels[i % kBatches], laps);
      if (i == 0) std::cout << "ready" << std::endl;
    }
  } catch (const std::exception& error) {
    std::cout << "noticed: " << error.what() << std::endl;
  }
}

void prepared_loop(const bench::Arguments& arguments) {
  accelerate::Accelerator accelerator({.cpu = true});
  accelerate::set_seed(0);
  auto shape = shape_of(arguments);
  auto net = make_model(shape);
  torch::optim::AdamW adamw(net->parameters(), kLearningRate);
  auto [model, optimizer] = accelerator.prepare(net, adamw);
  auto batches = make_batches(accelerator.process_index(), shape);
  auto step = [&, &model = model, &optimizer = optimizer](const auto& inputs, const auto& labels, bench::Laps& laps) {
    laps.begin();
    auto loss = torch::cross_entropy_loss(model(inputs), labels);
    laps.lap("forward");
    accelerator.backward(loss);
    laps.lap("backward");
    optimizer.step();
    optimizer.zero_grad();
    laps.lap("optimizer");
    return loss;
  };
  if (arguments.has("--for_ever")) return step_until_a_rank_ends(batches, step);
  measure(arguments, batches, [&] { accelerator.wait_for_everyone(); }, step);
  accelerator.end_training();
}

void bare_loop(const bench::Arguments& arguments) {
  torch::manual_seed(0);
  auto shape = shape_of(arguments);
  auto model = make_model(shape);
  auto parameters = model->parameters();
  std::vector<at::Tensor> first_moments, second_moments, steps;
  for (const auto& parameter : parameters) {
    first_moments.push_back(torch::zeros_like(parameter));
    second_moments.push_back(torch::zeros_like(parameter));
    steps.push_back(torch::zeros({}));
  }
  measure(
      arguments, make_batches(0, shape), [] {},
      [&](const auto& inputs, const auto& labels, bench::Laps& laps) {
        laps.begin();
        auto loss = torch::cross_entropy_loss(model->forward(inputs), labels);
        laps.lap("forward");
        loss.backward();
        laps.lap("backward");
        torch::NoGradGuard no_grad;
        std::vector<at::Tensor> gradients;
        for (auto& parameter : parameters) gradients.push_back(std::move(parameter.mutable_grad()));
        at::_foreach_add_(steps, 1);
        at::_fused_adamw_(parameters, gradients, first_moments, second_moments, /*max_exp_avg_sqs=*/{}, steps,
                          kLearningRate,
                          /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.01, /*eps=*/1e-8, /*amsgrad=*/false,
                          /*maximize=*/false);
        laps.lap("optimizer");
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
