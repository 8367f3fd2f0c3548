// The line fit of regression/make_reference.py, done here.

#include <doctest/doctest.h>

#include <cstdlib>

#include <ATen/CPUGeneratorImpl.h>

#include "accelerate/accelerator.h"
#include "accelerate/base/scope.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/operations.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

constexpr int64_t kBatchSize = 8;
constexpr int kEpochs = 3;
constexpr uint64_t kSeed = 42;

struct LineImpl : torch::nn::Module {
  LineImpl() : a(register_parameter("a", torch::zeros({}))), b(register_parameter("b", torch::zeros({}))) {}
  at::Tensor forward(const at::Tensor& x) { return x * a + b; }

  at::Tensor a, b;
};
TORCH_MODULE(Line);

struct Fit {
  std::vector<double> losses;
  double a = 0;
  double b = 0;
};

AcceleratorOptions accelerator_options(const json& options, bool fused) {
  auto mixed_precision = options.value("mixed_precision", std::string("no"));
  AcceleratorOptions result{
      .mixed_precision = precision::parse_mixed_precision(mixed_precision), .cpu = true, .fused_optimizers = fused};
  result.dataloader_config.split_batches = options.value("split_batches", false);
  if (options.value("seedable", false)) {
    result.dataloader_config.use_seedable_sampler = true;
    result.dataloader_config.data_seed = kSeed;
  }
  return result;
}

Fit fit_line(const json& data, const json& options, bool fused) {
  Accelerator accelerator(accelerator_options(options, fused));
  auto x = torch::tensor(data.at("x").get<std::vector<float>>());
  auto y = torch::tensor(data.at("y").get<std::vector<float>>());
  auto generator = at::make_generator<at::CPUGeneratorImpl>();
  const int64_t batch_size = kBatchSize * (options.value("split_batches", false) ? accelerator.num_processes() : 1);
  DataLoader batches(TensorDataset(Batch{{"x", x}, {"y", y}}),
                     {.batch_size = batch_size, .shuffle = options.at("shuffle"), .generator = generator});
  Line line;
  torch::optim::SGD sgd(line->parameters(), 0.1);
  auto [loader, model, optimizer] = accelerator.prepare(batches, line, sgd);
  set_seed(kSeed);
  generator.set_current_seed(kSeed);
  Fit fit;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (auto& batch : loader) {
      optimizer.zero_grad();
      auto loss = torch::mse_loss(model(batch["x"]), batch["y"]);
      accelerator.backward(loss);
      optimizer.step();
      fit.losses.push_back(loss.template item<double>());
    }
  }
  fit.a = line->a.item<double>();
  fit.b = line->b.item<double>();
  return fit;
}

/// Calls `check(data, name, run, rank)` on the ranks of every recorded run.
template <class Check>
void on_recorded_runs(Check check) {
  const auto world_sizes = recorded("regression").at("world_sizes");
  for (const auto& [world_size, data] : world_sizes.items()) {
    CAPTURE(world_size);
    run_ranks(std::stoi(world_size), [&](comm::Group& group) {
      for (const auto& [name, run] : data.at("runs").items()) {
        CAPTURE(name);
        check(data, run, group.rank());
      }
    });
  }
}

}  // namespace

TEST_CASE("the line fit has Accelerate's losses and weights to the bit, on 1, 2 and 4 ranks that talk through gloo") {
  setenv("ACCELERATE_COMM", "gloo", 1);  // shared memory adds more than two numbers in another order
  ScopeExit restore([] { unsetenv("ACCELERATE_COMM"); });
  on_recorded_runs([](const json& data, const json& run, int rank) {
    auto fit = fit_line(data, run.at("options"), /*fused=*/false);
    CHECK(json(fit.losses) == run.at("losses").at(rank));
    CHECK(fit.a == run.at("a"));
    CHECK(fit.b == run.at("b"));
  });
}

TEST_CASE("the fused SGD kernel and shared memory fit the same line within 1e-6") {
  on_recorded_runs([](const json& data, const json& run, int) {
    auto fit = fit_line(data, run.at("options"), /*fused=*/true);
    CHECK(std::abs(fit.a - run.at("a").get<double>()) <= 1e-6);
    CHECK(std::abs(fit.b - run.at("b").get<double>()) <= 1e-6);
  });
}

}  // namespace accelerate::tests
