// Batches that are weighted by their items, compared with one large batch of all of them.

#include <doctest/doctest.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/sgd.h>

#include "accelerate/accelerator.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate {
namespace {

namespace F = torch::nn::functional;

constexpr int64_t kIgnored = -100;

struct Tokens {
  at::Tensor rows, labels;
  int64_t num_items() const { return (labels != kIgnored).sum().item<int64_t>(); }
};

/// Between 2 and 17 tokens, of which one or more have a label.
Tokens tokens_of(int64_t window, int64_t step, int rank) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(1000 * window + 10 * step + rank);
  const int64_t length = 2 + (7 * window + 5 * step + 11 * rank) % 16;
  auto labels = torch::randint(3, {length}, generator, torch::kLong);
  labels.narrow(0, 1, length - 1).masked_fill_(torch::rand({length - 1}, generator) < 0.4, kIgnored);
  return {torch::randn({length, 4}, generator), labels};
}

at::Tensor loss_of(const at::Tensor& logits, const at::Tensor& labels, bool as_sum) {
  auto options = F::CrossEntropyFuncOptions().ignore_index(kIgnored);
  return as_sum ? F::cross_entropy(logits, labels, options.reduction(torch::kSum))
                : F::cross_entropy(logits, labels, options);
}

torch::nn::Sequential same_net() {
  torch::manual_seed(3);
  return torch::nn::Sequential(torch::nn::Linear(4, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
}

constexpr int64_t kWindows = 3, kSteps = 3;
constexpr double kMaxNorm = 0.3;

/// The weights after training on each window as one batch of the tokens of all ranks, and the norms of its gradients.
std::pair<std::vector<at::Tensor>, std::vector<double>> from_large_batches(int world_size) {
  auto net = same_net();
  torch::optim::SGD sgd(net->parameters(), 0.5);
  std::vector<double> norms;
  for (int64_t window = 0; window < kWindows; ++window) {
    std::vector<at::Tensor> rows, labels;
    for (int rank = 0; rank < world_size; ++rank) {
      for (int64_t step = 0; step < kSteps; ++step) {
        auto tokens = tokens_of(window, step, rank);
        rows.push_back(tokens.rows);
        labels.push_back(tokens.labels);
      }
    }
    loss_of(net->forward(torch::cat(rows)), torch::cat(labels), /*as_sum=*/false).backward();
    norms.push_back(torch::nn::utils::clip_grad_norm_(net->parameters(), kMaxNorm));
    sgd.step();
    sgd.zero_grad();
  }
  return {net->parameters(), norms};
}

/// The difference to that of training on windows of `kSteps` batches.
double difference_to_large_batches(const AcceleratorOptions& options, bool by_items = true) {
  Accelerator accelerator(options);
  auto [expected, norms] = from_large_batches(accelerator.num_processes());
  auto net = same_net();
  torch::optim::SGD sgd(net->parameters(), 0.5);
  auto [model, optimizer] = accelerator.prepare(net, sgd);
  double difference = 0;
  for (int64_t window = 0; window < kWindows; ++window) {
    for (int64_t step = 0; step < kSteps; ++step) {
      auto accumulating = accelerator.accumulate(model);
      auto tokens = tokens_of(window, step, accelerator.process_index());
      auto loss = loss_of(model(tokens.rows), tokens.labels, by_items);
      if (by_items) {
        accelerator.backward(loss, {.num_items = tokens.num_items()});
      } else {
        accelerator.backward(loss);
      }
      if (accelerator.sync_gradients()) {
        const auto norm = accelerator.clip_grad_norm_(model->parameters(), kMaxNorm).item<double>();
        difference = std::max(difference, std::abs(norm - norms[window]));
      }
      optimizer.step();
      optimizer.zero_grad();
    }
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    difference = std::max(difference, (net->parameters()[i] - expected[i]).abs().max().item<double>());
  }
  return difference;
}

AcceleratorOptions accumulating_options(bool sync_each_batch = false) {
  return {.cpu = true,
          .gradient_accumulation_plugin = {
              .num_steps = kSteps, .sync_each_batch = sync_each_batch, .scale_last_window = true}};
}

}  // namespace

TEST_CASE("batches weighted by their items train as one large batch does, on any number of ranks") {
  for (int world_size : {1, 2, 3}) {
    tests::run_ranks(world_size, [](comm::Group&) {
      CHECK(difference_to_large_batches(accumulating_options()) < 1e-5);
      CHECK(difference_to_large_batches(accumulating_options(/*sync_each_batch=*/true)) < 1e-5);
      auto shared_clipping = accumulating_options();
      shared_clipping.shared_clipping = true;
      CHECK(difference_to_large_batches(shared_clipping) < 1e-5);
      // The mean of the means of batches is another.
      CHECK(difference_to_large_batches(accumulating_options(), /*by_items=*/false) > 1e-3);
    });
  }
}

TEST_CASE("sharded gradients and fp16 losses are weighted by items too") {
  tests::run_ranks(2, [](comm::Group&) {
    auto sharded = accumulating_options();
    sharded.zero_stage = 2;
    CHECK(difference_to_large_batches(sharded) < 1e-5);
  });
  auto half = accumulating_options();
  half.mixed_precision = MixedPrecision::Fp16;
  half.grad_scaler.init_scale = 1024;  // no step is skipped
  CHECK(difference_to_large_batches(half) < 2e-2);
  CHECK(difference_to_large_batches(half, /*by_items=*/false) > 5e-2);
}

namespace {

/// The gradient of a sum of inputs is their sum.
struct SummingImpl : torch::nn::Module {
  SummingImpl() { weight = register_parameter("weight", torch::ones({1})); }
  at::Tensor forward(const at::Tensor& inputs) { return (weight * inputs).sum(); }
  at::Tensor weight;
};
TORCH_MODULE(Summing);

}  // namespace

TEST_CASE("a window that the loader ends early is divided by the items that it has") {
  Accelerator accelerator(accumulating_options());
  auto inputs = torch::arange(1, 10, torch::kFloat);
  auto [loader, model] = accelerator.prepare(DataLoader(TensorDataset(inputs), {.batch_size = 2}), Summing());
  auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 0.0));
  std::vector<double> means;
  for (auto& batch : loader) {
    auto accumulating = accelerator.accumulate(model);
    accelerator.backward(model(batch), {.num_items = batch.numel()});
    if (accelerator.sync_gradients()) means.push_back(model->parameters()[0].grad().template item<double>());
    optimizer.step();
    optimizer.zero_grad();
  }
  CHECK(means == std::vector<double>{3.5, 8});  // of 1 to 6, and of 7, 8 and 9
}

TEST_CASE("items count once among ranks that have run out of batches") {
  tests::run_ranks(2, [](comm::Group& group) {
    Accelerator accelerator({.cpu = true});
    auto model = accelerator.prepare(Summing());
    std::vector<double> means;
    accelerator.join_uneven_inputs(model, [&] {
      for (int64_t length : group.rank() == 0 ? std::vector<int64_t>{1, 4} : std::vector<int64_t>{3}) {
        auto inputs = torch::full({length}, static_cast<double>(group.rank() + 1));
        accelerator.backward(model(inputs), {.num_items = length});
        means.push_back(model->parameters()[0].grad().item<double>());
        model->parameters()[0].mutable_grad().reset();
      }
    });
    CHECK(means.front() == 7.0 / 4);  // of 1 and 2, 2, 2
    CHECK(means.back() == (group.rank() == 0 ? 1.0 : 7.0 / 4));
  });
}

TEST_CASE("items of one window belong to the same models, and a window is left with free_memory") {
  Accelerator accelerator(accumulating_options());
  auto [first, second] = accelerator.prepare(Summing(), Summing());
  {
    auto accumulating = accelerator.accumulate(first);
    accelerator.backward(first(torch::ones({3})), {.num_items = 3});
  }
  CHECK(accelerator.gradient_state()->items.is_open());
  CHECK_THROWS_WITH_AS((void)accelerator.accumulate(second), doctest::Contains("pass the same models"), Error);
  accelerator.free_memory();
  CHECK_FALSE(accelerator.gradient_state()->items.is_open());
}

}  // namespace accelerate
