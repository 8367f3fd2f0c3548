// One step of AdamW: prepared, or with --plain libtorch's own; with --clip the norm of the gradients is limited before.
// With --shared the ranks divide the step among them. --weights is how many there are in 20 tensors. With --copy only
// as much memory is read and written as a step has to: 28 bytes for each weight.

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
      register_parameter("weight" + std::to_string(i), torch::randn(size)).mutable_grad() = torch::randn(size);
    }
  }
};

template <class Step>
void measure(int64_t steps, const std::vector<at::Tensor>& parameters, Step step) {
  for (int i = 0; i < 3; ++i) step();
  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < steps; ++i) step();
  const double wall_seconds = stopwatch.wall_seconds(), cpu_seconds = stopwatch.cpu_seconds();
  std::vector<double> sizes;
  for (const auto& parameter : parameters) sizes.push_back(parameter.detach().abs().mean().item<double>());
  bench::report(steps, wall_seconds, cpu_seconds, sizes);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  const int64_t steps = arguments.number("--steps", 40);
  auto weights = std::make_shared<Weights>(arguments.text("--shape", "large"), arguments.number("--weights", 20 << 20));
  auto parameters = weights->parameters();
  torch::optim::AdamW adamw(parameters, 1e-3);
  if (arguments.has("--copy")) {
    int64_t count = 0;
    for (const auto& parameter : parameters) count += parameter.numel();
    std::vector<char> from(count * 14, 1), to(count * 14, 0);
    measure(steps, {}, [&] { std::memcpy(to.data(), from.data(), from.size()); });
  } else if (arguments.has("--plain")) {
    measure(steps, parameters, [&] { adamw.step(); });
  } else {
    const bool shared = arguments.has("--shared");
    accelerate::Accelerator accelerator({.cpu = true, .zero_stage = shared, .shared_clipping = shared});
    auto [model, optimizer] = accelerator.prepare(weights, adamw);
    const bool clip = arguments.has("--clip");
    measure(steps, parameters, [&, &optimizer = optimizer] {
      if (clip) accelerator.clip_grad_norm_(parameters, 1.0);
      optimizer.step();
    });
  }
}
