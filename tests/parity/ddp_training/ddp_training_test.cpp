// The classifier of ddp_training/make_reference.py, trained here.

#include <doctest/doctest.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/pooling.h>

#include "accelerate/accelerator.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/operations.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

constexpr int64_t kSamplesPerRank = 80;
constexpr int64_t kBatchSize = 8;
constexpr int kEpochs = 2;
constexpr uint64_t kSeed = 1234;

/// Layer by layer: each draws its initial weights when it is made, and C++ may make a call's arguments in any order.
torch::nn::Sequential make_model() {
  using namespace torch::nn;
  Sequential model;
  model->push_back(Conv2d(Conv2dOptions(1, 4, 3).padding(1)));
  model->push_back(ReLU());
  model->push_back(MaxPool2d(2));
  model->push_back(Flatten());
  model->push_back(Linear(4 * 4 * 4, 32));
  model->push_back(ReLU());
  model->push_back(Dropout(0.1));
  model->push_back(Linear(32, 10));
  return model;
}

auto make_dataset(int64_t samples) {
  auto images = (torch::arange(samples * 64) * 7919 % 1009).to(torch::kFloat) / 1009 - 0.5;
  return TensorDataset(images.view({samples, 1, 8, 8}), torch::arange(samples) * 7 % 10);
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, std::vector<at::Tensor> parameters) {
  using namespace torch::optim;
  if (name == "adamw") return std::make_unique<AdamW>(std::move(parameters), AdamWOptions(1e-2));
  return std::make_unique<SGD>(std::move(parameters), SGDOptions(0.1).momentum(0.9).weight_decay(1e-3));
}

json parameters_of(const torch::nn::Module& model) {
  json parameters;
  for (const auto& item : model.named_parameters()) {
    auto values = item.value().detach().to(torch::kDouble);
    parameters[item.key()] = {{"sum", values.sum().item<double>()},
                              {"sum_of_squares", values.square().sum().item<double>()}};
  }
  return parameters;
}

struct Training {
  std::vector<double> losses;
  json parameters;
};

Training train(const json& options) {
  at::set_num_threads(1);  // as the reference: the order of sums depends on it
  auto mixed_precision = options.at("mixed_precision").get<std::string>();
  Accelerator accelerator({.mixed_precision = precision::parse_mixed_precision(mixed_precision),
                           .cpu = true,
                           .fused_optimizers = options.at("fused").get<bool>()});
  set_seed(kSeed);
  auto net = make_model();
  auto inner_optimizer = make_optimizer(options.at("optimizer"), net->parameters());
  DataLoader batches(make_dataset(kSamplesPerRank * accelerator.num_processes()),
                     {.batch_size = kBatchSize, .shuffle = true});
  auto [model, optimizer, loader] = accelerator.prepare(net, *inner_optimizer, batches);
  set_seed(kSeed, {.device_specific = true});
  model->train();
  Training training;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (auto& [images, labels] : loader) {
      auto loss = torch::cross_entropy_loss(model(images), labels);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      training.losses.push_back(loss.template item<double>());
    }
  }
  training.parameters = parameters_of(*net);
  return training;
}

}  // namespace

TEST_CASE("a loop with dropout has the losses of the same loop in Python to the bit, on 1 and 2 ranks") {
  const auto world_sizes = recorded("ddp_training").at("world_sizes");
  for (const auto& [world_size, runs] : world_sizes.items()) {
    CAPTURE(world_size);
    run_ranks(std::stoi(world_size), [&](comm::Group& group) {
      for (const auto& [name, run] : runs.items()) {
        CAPTURE(name);
        auto training = train(run.at("options"));
        CHECK(json(training.losses) == run.at("losses").at(group.rank()));
        CHECK(training.parameters == run.at("parameters"));
      }
    });
  }
}

}  // namespace accelerate::tests
