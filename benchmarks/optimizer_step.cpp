// One step of AdamW, or with --sgd of SGD with momentum: prepared, or with --plain libtorch's own; with --clip the norm
// of the gradients is limited before. With --shared the ranks divide the step among them. --weights is how many there
// are in 20 tensors. With --copy only as much memory is read and written as a step of AdamW has to: 28 bytes for each
// weight. By how much the optimizer's state makes memory grow is reported too.

#include <cstring>

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "benchmarks/side.h"

namespace {

struct Weights : torch::nn::Module {
  Weights(const std::string& shape, int64_t num_weights) {
    const int64_t count = shape == "large" ? 20 : 150, size = shape == "large" ? num_weights / count : 3333;
    torch::manual_seed(0);
    for (int64_t i = 0; i < count; ++i) {
      auto weight = register_parameter("weight" + std::to_string(i), torch::randn(size));  // drawn before its gradient
      weight.mutable_grad() = torch::randn(size);
    }
  }
};

/// `bytes_before` is the memory before there was an optimizer's state, which is there after the first steps.
template <class Step>
void measure(int64_t steps, const std::vector<at::Tensor>& parameters, int64_t bytes_before, Step step) {
  for (int i = 0; i < 3; ++i) step();
  const int64_t state_bytes = bench::proportional_bytes() - bytes_before;
  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < steps; ++i) step();
  const double wall_seconds = stopwatch.wall_seconds(), cpu_seconds = stopwatch.cpu_seconds();
  std::vector<double> sizes;
  for (const auto& parameter : parameters) sizes.push_back(parameter.detach().abs().mean().item<double>());
  bench::report(steps, wall_seconds, cpu_seconds, sizes, {{"state_bytes", state_bytes}});
}

void measure_copy(const bench::Arguments& arguments, const std::vector<at::Tensor>& parameters) {
  int64_t count = 0;
  for (const auto& parameter : parameters) count += parameter.numel();
  std::vector<char> from(count * 14, 1), to(count * 14, 0);
  measure(arguments.number("--steps", 40), {}, bench::proportional_bytes(),
          [&] { std::memcpy(to.data(), from.data(), from.size()); });
}

template <class TorchOptimizer>
void measure_steps(const bench::Arguments& arguments, const std::shared_ptr<Weights>& weights,
                   TorchOptimizer& torch_optimizer) {
  const int64_t steps = arguments.number("--steps", 40);
  auto parameters = weights->parameters();
  if (arguments.has("--plain")) {
    return measure(steps, parameters, bench::proportional_bytes(), [&] { torch_optimizer.step(); });
  }
  const bool shared = arguments.has("--shared"), clip = arguments.has("--clip");
  accelerate::Accelerator accelerator({.cpu = true, .zero_stage = shared, .shared_clipping = shared});
  auto model = accelerator.prepare(weights);
  accelerator.wait_for_everyone();
  const int64_t bytes_before = bench::proportional_bytes();
  auto optimizer = accelerator.prepare(torch_optimizer);
  measure(steps, parameters, bytes_before, [&] {
    if (clip) accelerator.clip_grad_norm_(parameters, 1.0);
    optimizer.step();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  auto weights = std::make_shared<Weights>(arguments.text("--shape", "large"), arguments.number("--weights", 20 << 20));
  torch::optim::AdamW adamw(weights->parameters(), 1e-3);
  torch::optim::SGD sgd(weights->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
  if (arguments.has("--copy")) {
    measure_copy(arguments, weights->parameters());
  } else if (arguments.has("--sgd")) {
    measure_steps(arguments, weights, sgd);
  } else {
    measure_steps(arguments, weights, adamw);
  }
}
