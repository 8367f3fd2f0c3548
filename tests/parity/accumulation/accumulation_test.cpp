// The loops of accumulation/make_reference.py, done here.

#include <doctest/doctest.h>

#include "accelerate/accelerator.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/train/lr_scheduler.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

torch::nn::Linear one_weight(double value) {
  torch::nn::Linear model(torch::nn::LinearOptions(1, 1).bias(false));
  torch::nn::init::constant_(model->weight, value);
  return model;
}

GradientAccumulationPlugin plugin_of(const json& options) {
  return {.num_steps = options.at("num_steps").get<int64_t>(),
          .sync_with_dataloader = options.value("sync_with_dataloader", true),
          .sync_each_batch = options.value("sync_each_batch", false)};
}

json gradient_of(const at::Tensor& weight) {
  if (!weight.grad().defined()) return nullptr;
  return weight.grad().item<double>();
}

json rows_of(const json& table) {
  Accelerator accelerator({.cpu = true, .gradient_accumulation_plugin = plugin_of(table.at("plugin"))});
  const int64_t samples = table.at("samples");
  const bool alone = accelerator.num_processes() == 1;
  auto inputs = (alone ? torch::ones(samples) : torch::arange(1, samples + 1, torch::kFloat)).view({samples, 1});
  auto net = one_weight(1);
  torch::optim::SGD sgd(net->parameters(), 1.0);
  LambdaLR schedule(sgd, [](int64_t) { return 1.0; });
  auto [model, optimizer, scheduler, loader] =
      accelerator.prepare(net, sgd, schedule, DataLoader(TensorDataset(inputs), {.batch_size = 1}));

  auto rows = json::array();
  for (int64_t epoch = 0; epoch < table.at("epochs"); ++epoch) {
    for (auto& batch : loader) {
      json gradient;
      {
        auto accumulating = accelerator.accumulate(model);
        accelerator.backward(model(batch).sum());
        gradient = gradient_of(net->weight);
        optimizer.step();
        scheduler.step();
        optimizer.zero_grad();
      }
      rows.push_back({{"input", batch.template item<double>()},
                      {"sync_gradients", accelerator.sync_gradients()},
                      {"step", accelerator.gradient_state()->step},
                      {"gradient", gradient},
                      {"gradient_left", gradient_of(net->weight)},
                      {"last_epoch", schedule.last_epoch()},
                      {"weight", net->weight.template item<double>()}});
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("accumulation synchronises, steps and drops gradients as Accelerate's does") {
  const auto tables = recorded("accumulation").at("tables");
  for (const auto& [name, table] : tables.items()) {
    CAPTURE(name);
    run_ranks(table.at("world_size"), [&](comm::Group& group) {
      auto rows = rows_of(table);
      const auto& expected = table.at("ranks").at(group.rank());
      REQUIRE(rows.size() == expected.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        CHECK(rows[i] == expected[i]);
      }
    });
  }
}

TEST_CASE("backward divides by the steps of accumulation outside of accumulate too") {
  auto expected = recorded("accumulation").at("outside_accumulate");
  Accelerator accelerator({.gradient_accumulation_steps = 2, .cpu = true});
  auto net = one_weight(1);
  torch::optim::SGD sgd(net->parameters(), 1.0);
  auto [model, optimizer] = accelerator.prepare(net, sgd);
  accelerator.backward(model(torch::ones({1, 1})).sum());
  CHECK(gradient_of(net->weight) == expected.at("gradient"));
  optimizer.step();
  CHECK(accelerator.sync_gradients() == expected.at("sync_gradients"));
  CHECK(net->weight.item<double>() == expected.at("weight"));
}

TEST_CASE("accumulating small batches gives the weight that one large batch gives") {
  auto expected = recorded("accumulation").at("line_fit");
  auto inputs = torch::arange(1, 9, torch::kFloat).view({8, 1});
  auto fit = [&](int64_t batch_size, int64_t steps) {
    Accelerator accelerator({.gradient_accumulation_steps = steps, .cpu = true});
    auto net = one_weight(0);
    torch::optim::SGD sgd(net->parameters(), 0.02);
    auto [model, optimizer, loader] =
        accelerator.prepare(net, sgd, DataLoader(TensorDataset(inputs, 2 * inputs), {.batch_size = batch_size}));
    for (auto& [x, y] : loader) {
      auto accumulating = accelerator.accumulate(model);
      accelerator.backward(torch::mse_loss(model(x), y));
      optimizer.step();
      optimizer.zero_grad();
    }
    return net->weight.item<double>();
  };
  CHECK(fit(2, 4) == expected.at("accumulated"));
  CHECK(fit(8, 1) == expected.at("full_batch"));
}

TEST_CASE("num_items gives the gradients of a loop in Python that counts the items of a window in advance") {
  const auto jobs = recorded("accumulation").at("weighted_by_items");
  for (const auto& ranks : jobs) {
    run_ranks(static_cast<int>(ranks.size()), [&](comm::Group& group) {
      const auto& windows = ranks.at(group.rank());
      Accelerator accelerator({.gradient_accumulation_steps = std::ssize(windows.at(0).at("batches")), .cpu = true});
      auto net = one_weight(1);
      torch::optim::SGD sgd(net->parameters(), 0.25);
      auto [model, optimizer] = accelerator.prepare(net, sgd);
      for (const auto& window : windows) {
        for (const auto& batch : window.at("batches")) {
          auto accumulating = accelerator.accumulate(model);
          auto inputs = torch::tensor(batch.get<std::vector<float>>()).view({-1, 1});
          accelerator.backward(model(inputs).square().sum(), {.num_items = inputs.size(0)});
          // The order of additions and divisions is another.
          if (accelerator.sync_gradients())
            CHECK(net->weight.grad().item<double>() ==
                  doctest::Approx(window.at("gradient").get<double>()).epsilon(1e-6));
          optimizer.step();
          optimizer.zero_grad();
        }
        CHECK(net->weight.item<double>() == doctest::Approx(window.at("weight").get<double>()).epsilon(1e-6));
      }
    });
  }
}

}  // namespace accelerate::tests
