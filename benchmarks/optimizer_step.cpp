// One step of AdamW: prepared, or with --plain libtorch's own. With --copy only as much memory is read and written as a
// step has to: 28 bytes for each weight.

#include <cstring>

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "benchmarks/side.h"

namespace {

std::vector<at::Tensor> make_parameters(const std::string& shape) {
  const int64_t count = shape == "large" ? 20 : 150, size = shape == "large" ? 1 << 20 : 3333;
  torch::manual_seed(0);
  std::vector<at::Tensor> parameters;
  for (int64_t i = 0; i < count; ++i) {
    parameters.push_back(torch::randn(size).requires_grad_());
    parameters.back().mutable_grad() = torch::randn(size);
  }
  return parameters;
}

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
  auto parameters = make_parameters(arguments.text("--shape", "large"));
  torch::optim::AdamW adamw(parameters, 1e-3);
  if (arguments.has("--copy")) {
    int64_t weights = 0;
    for (const auto& parameter : parameters) weights += parameter.numel();
    std::vector<char> from(weights * 14, 1), to(weights * 14, 0);
    measure(steps, {}, [&] { std::memcpy(to.data(), from.data(), from.size()); });
  } else if (arguments.has("--plain")) {
    measure(steps, parameters, [&] { adamw.step(); });
  } else {
    accelerate::Accelerator accelerator({.cpu = true});
    auto optimizer = accelerator.prepare(adamw);
    measure(steps, parameters, [&] { optimizer.step(); });
  }
}
