// The classifier of sparse_gradients/make_reference.py, trained here.

#include <doctest/doctest.h>

#include "accelerate/accelerator.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/operations.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

constexpr int64_t kSamplesPerRank = 40;
constexpr int64_t kWords = 50;
constexpr int64_t kWordsPerSample = 3;
constexpr int64_t kBatchSize = 4;
constexpr uint64_t kSeed = 1234;

struct Training {
  std::vector<double> losses;
  json parameters;
};

Training train(const json& options, const std::string& backend) {
  comm::PartialState::reset();
  at::set_num_threads(1);  // as the reference: the order of sums depends on it
  const auto steps = options.at("accumulation_steps").get<int64_t>();
  Accelerator accelerator(
      {.gradient_accumulation_steps = steps, .cpu = true, .fused_optimizers = false, .backend = backend});
  set_seed(kSeed);
  torch::nn::Sequential net;
  net->push_back(torch::nn::Embedding(torch::nn::EmbeddingOptions(kWords, 8).sparse(true)));
  net->push_back(torch::nn::Flatten());
  net->push_back(torch::nn::Linear(8 * kWordsPerSample, 4));
  std::unique_ptr<torch::optim::Optimizer> inner_optimizer;
  if (options.at("optimizer") == "sgd") {
    inner_optimizer =
        std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  } else {
    inner_optimizer = std::make_unique<torch::optim::Adagrad>(net->parameters(), torch::optim::AdagradOptions(0.1));
  }
  auto samples = kSamplesPerRank * accelerator.num_processes();
  auto words = torch::arange(samples * kWordsPerSample).square() * 7 % kWords;
  DataLoader batches(TensorDataset(words.view({samples, kWordsPerSample}), torch::arange(samples) * 7 % 4),
                     {.batch_size = kBatchSize});
  auto [model, optimizer, loader] = accelerator.prepare(net, *inner_optimizer, batches);
  Training training;
  for (auto& [sample, labels] : loader) {
    auto accumulating = accelerator.accumulate(model);
    auto loss = torch::cross_entropy_loss(model(sample), labels);
    accelerator.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    training.losses.push_back(loss.template item<double>());
  }
  for (const auto& item : net->named_parameters()) {
    auto values = item.value().detach().to(torch::kDouble);
    training.parameters[item.key()] = {{"sum", values.sum().template item<double>()},
                                       {"sum_of_squares", values.square().sum().template item<double>()}};
  }
  return training;
}

}  // namespace

TEST_CASE("embeddings with sparse gradients train to the bits of Python's, through shared memory and gloo") {
  const auto runs = recorded("sparse_gradients").at("runs");
  run_ranks(2, [&](comm::Group& group) {
    for (std::string backend : {"shm", "gloo"}) {
      for (const auto& [name, run] : runs.items()) {
        CAPTURE(backend);
        CAPTURE(name);
        auto training = train(run.at("options"), backend);
        CHECK(json(training.losses) == run.at("losses").at(group.rank()));
        CHECK(training.parameters == run.at("parameters"));
      }
    }
  });
}

}  // namespace accelerate::tests
