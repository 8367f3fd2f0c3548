#include "accelerate/parallel/comm_hook.h"

#include <doctest/doctest.h>

#include "accelerate/comm/partial_state.h"
#include "accelerate/parallel/gradient_reducer.h"
#include "accelerate/parallel/join.h"
#include "accelerate/parallel/power_sgd.h"
#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate::tests;
using accelerate::comm::Group;
using doctest::Contains;
using namespace accelerate::parallel;

namespace {

/// A gradient that is rank + 1 everywhere.
void backward_of_rank(Chain& model, const Group& group, const std::shared_ptr<Replicas>& replicas) {
  zero_grad(model);
  torch::Tensor loss = torch::zeros({});
  for (auto& parameter : model.parameters()) loss = loss + parameter.sum() * (group.rank() + 1);
  synced_backward(loss, {replicas});
}

/// The losses of a training with `kwargs`, and whether all ranks end with the same parameters.
std::vector<double> train_with(const Group& group, const DistributedDataParallelKwargs& kwargs, int num_steps) {
  torch::manual_seed(3);
  Chain model({16, 64, 64, 8});
  auto replicas = replicate(model, group, kwargs);
  std::vector<double> losses;
  for (int step = 0; step < num_steps; ++step) {
    torch::manual_seed(100 + group.rank());
    auto input = torch::randn({16, 16});
    auto target = torch::tanh(input.narrow(1, 0, 8) * 2);
    auto loss = (model.forward(input) - target).square().mean();
    synced_backward(loss, {replicas});
    descend(model, 0.5);
    zero_grad(model);
    losses.push_back(loss.item<double>());
  }
  CHECK(equal_on_all_ranks(model.parameters(), group));
  return losses;
}

}  // namespace

TEST_CASE("an own hook says what gradients become, in every type and on memory of its own") {
  run_ranks(2, [](Group& group) {
    for (bool view : {false, true}) {
      std::vector<CommHookFunction> hooks{
          allreduce_hook,
          fp16_compress_hook,
          bf16_compress_wrapper(allreduce_hook),
          [](GradBucket& bucket, const Group& ranks) {
            auto padded = torch::cat({torch::zeros({5}), bucket.buffer()});
            ranks.all_reduce(padded);
            return padded.narrow(0, 5, bucket.buffer().numel()) / 2;
          },
          [](GradBucket& bucket, const Group& ranks) {
            // Views of the buffer, one for each parameter.
            for (auto& gradient : bucket.gradients()) ranks.all_reduce(gradient);
            return bucket.buffer().div_(ranks.size());
          },
          [](GradBucket& bucket, const Group& ranks) {
            auto large = bucket.buffer().to(torch::kDouble);
            ranks.all_reduce(large);
            return torch::stack({large, large}, 1).select(1, 0) / ranks.size();
          },
      };
      for (size_t i = 0; i < hooks.size(); ++i) {
        CAPTURE(i);
        Chain model({8, 40, 3});
        auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-4, .gradient_as_bucket_view = view});
        replicas->register_comm_hook(hooks[i]);
        for (int step = 0; step < 3; ++step) {
          backward_of_rank(model, group, replicas);
          for (auto& parameter : model.parameters()) {
            CHECK(parameter.grad().equal(torch::full_like(parameter, 1.5)));
          }
        }
      }
    }
  });
}

TEST_CASE("a hook sees every gradient once, in numbered buckets, the last of them marked") {
  run_ranks(2, [](Group& group) {
    Chain model({8, 40, 3});
    auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-4});
    std::vector<size_t> indices;
    std::vector<bool> last;
    int64_t num_elements = 0;
    replicas->register_comm_hook([&](GradBucket& bucket, const Group& ranks) {
      CHECK_FALSE(torch::GradMode::is_enabled());
      const auto parameters = bucket.parameters();
      const auto gradients = bucket.gradients();
      REQUIRE(parameters.size() == gradients.size());
      for (size_t i = 0; i < parameters.size(); ++i) CHECK(parameters[i].sizes() == gradients[i].sizes());
      indices.push_back(bucket.index());
      last.push_back(bucket.is_last());
      num_elements += bucket.buffer().numel();
      return allreduce_hook(bucket, ranks);
    });
    backward_of_rank(model, group, replicas);
    REQUIRE(indices.size() > 1);
    for (size_t i = 0; i < indices.size(); ++i) {
      CHECK(indices[i] == i);
      CHECK(last[i] == (i + 1 == indices.size()));
    }
    CHECK(num_elements == 8 * 40 + 40 + 40 * 3 + 3);
  });
}

TEST_CASE("a hook gets gradients that were added up locally, and those of ranks that ran out of batches") {
  run_ranks(2, [](Group& group) {
    Weight model(1);
    auto replicas = replicate(model, group);
    replicas->register_comm_hook(allreduce_hook);
    model.forward(3).backward();
    synced_backward(model.forward(group.rank()), {replicas});
    CHECK(model.w.grad().item<float>() == 3.5);

    zero_grad(model);
    Join join({replicas}, group);
    for (int step = 0; step <= group.rank(); ++step) {
      replicas->before_forward(true);
      synced_backward(model.forward(4), {replicas});
      if (step == 0) CHECK(model.w.grad().item<float>() == 4);
      if (step == 1) CHECK(model.w.grad().item<float>() == 2);  // the other rank has none
      zero_grad(model);
    }
    join.finish();
  });
}

TEST_CASE("a hook that returns something else, throws, or comes second is an error that says so") {
  run_ranks(2, [](Group& group) {
    auto failure_with = [&](const CommHookFunction& hook) {
      Chain model({4, 4});
      auto replicas = replicate(model, group);
      replicas->register_comm_hook(hook);
      return failure_of([&] { backward_of_rank(model, group, replicas); });
    };
    CHECK(failure_with([](GradBucket&, const Group&) { return torch::zeros({3}); }) ==
          Contains(
              "returned a dense Float tensor of shape [3] on cpu; it must return the averaged gradients in the form of "
              "bucket.buffer(), a dense Float tensor of shape [20] on cpu"));
    CHECK(failure_with([](GradBucket&, const Group&) { return torch::Tensor(); }) == Contains("undefined tensor"));
    CHECK(failure_with([](GradBucket&, const Group&) -> torch::Tensor { accelerate::fail("my own complaint"); }) ==
          Contains("my own complaint"));

    Chain model({4, 4});
    auto replicas = replicate(model, group, {.comm_hook = CommHook::Bf16});
    CHECK(failure_of([&] { replicas->register_comm_hook(allreduce_hook); }) == Contains("already has a comm_hook"));
    auto others = replicate(model, group);
    CHECK(failure_of([&] { others->register_comm_hook({}); }) == Contains("the hook is empty"));
    others->register_comm_hook(allreduce_hook);
    CHECK(failure_of([&] { others->register_comm_hook(allreduce_hook); }) == Contains("already has a comm_hook"));
    CHECK_FALSE(others->can_sum_squares());
    CHECK(failure_of([&] { others->observe_gradients([](auto) { return nullptr; }); }) ==
          Contains("without a comm_hook"));
  });
  run_ranks(1, [](Group& group) {
    Chain model({4, 4});
    replicate(model, group)->register_comm_hook(allreduce_hook);  // nothing to do
  });
}

TEST_CASE("PowerSGD learns about as well as whole gradients, in several buckets and over any transport") {
  run_ranks(3, [](Group&) {
    for (const std::string backend : {"shm", "gloo"}) {
      CAPTURE(backend);
      accelerate::comm::PartialState::reset();
      const auto ranks = accelerate::comm::PartialState({.backend = backend}).group();
      const double whole = train_with(ranks, {}, 60).back();
      for (auto hook : {CommHook::PowerSGD, CommHook::BatchedPowerSGD}) {
        for (auto wrapper : {CommHook::No, CommHook::Bf16}) {
          const auto losses =
              train_with(ranks,
                         {.bucket_cap_mb = 0.01,
                          .comm_hook = hook,
                          .comm_wrapper = wrapper,
                          .comm_state_option = {.matrix_approximation_rank = 2, .start_powerSGD_iter = 5}},
                         60);
          CHECK(losses.back() < 0.5 * losses.front());
          CHECK(losses.back() < 2 * whole);
        }
      }
    }
  });
}

TEST_CASE("PowerSGD counts what it saves, and says so") {
  run_ranks(2, [](Group& group) {
    Chain model({40, 40});
    auto replicas = replicate(model, group);
    auto state = std::make_shared<PowerSGDState>(PowerSGDOptions{.start_powerSGD_iter = 2});
    replicas->register_comm_hook(powerSGD_hook(state));
    for (int step = 0; step < 3; ++step) {
      CHECK(state->iter() == step);
      CHECK(state->compression_stats().numel_before_compression == 0);
      synced_backward(model.forward(torch::randn({4, 40})).square().sum(), {replicas});
    }
    const auto stats = state->compression_stats();
    CHECK(stats.numel_before_compression == 40 * 40 + 40);
    CHECK(stats.numel_after_compression == 2 * 40 + 40);
    CHECK(stats.compress_rate == doctest::Approx(1640 / 120.));
  });
}

TEST_CASE("what PowerSGD cannot do is refused before the first step") {
  CHECK(failure_of([] { PowerSGDState({.start_powerSGD_iter = 1}); }) == Contains("start_powerSGD_iter is 1"));
  CHECK(failure_of([] { PowerSGDState({.matrix_approximation_rank = 0}); }) == Contains("it must be at least 1"));
  run_ranks(2, [](Group& group) {
    torch::nn::Embedding table(torch::nn::EmbeddingOptions(4, 2).sparse(true));
    CHECK(failure_of([&] { replicate(*table, group, {.comm_hook = CommHook::PowerSGD}); }) ==
          Contains("PowerSGD, which does not compress sparse gradients, and 'weight' has one"));
    auto replicas = replicate(*table, group);
    replicas->register_comm_hook(powerSGD_hook(std::make_shared<PowerSGDState>()));
    CHECK(failure_of([&] { synced_backward(table(torch::tensor({1})).sum(), {replicas}); }) ==
          Contains("PowerSGD: the gradient of a parameter of shape [4, 2] is sparse"));
    Chain model({4, 4});
    CHECK(failure_of([&] {
            replicate(model, group, {.comm_hook = CommHook::Fp16, .comm_wrapper = CommHook::PowerSGD});
          }) == Contains("comm_wrapper is a PowerSGD hook"));
    const auto seed = static_cast<uint32_t>(group.rank());
    CHECK(failure_of([&] {
            replicate(model, group, {.comm_hook = CommHook::PowerSGD, .comm_state_option = {.random_seed = seed}});
          }) == Contains("random_seed"));
  });
}
