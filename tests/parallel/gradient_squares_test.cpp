#include "accelerate/parallel/gradient_squares.h"

#include <doctest/doctest.h>

#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate::tests;
using accelerate::comm::Group;
using accelerate::parallel::DistributedDataParallelKwargs;
using accelerate::parallel::Replicas;

namespace {

double squares_of_gradients(const torch::nn::Module& module) {
  double sum = 0;
  for (const auto& parameter : module.parameters()) {
    if (parameter.grad().defined()) sum += parameter.grad().to(torch::kDouble).square().sum().item<double>();
  }
  return sum;
}

/// Whether the replicas know the sum, which is the right one then and the same on all ranks.
bool know_squares(Replicas& replicas, const torch::nn::Module& module, const Group& group) {
  auto squares = replicas.sum_of_squares();
  if (!squares) return false;
  CHECK(squares->sum == doctest::Approx(squares_of_gradients(module)).epsilon(1e-12));
  auto sums = group.all_gather(torch::tensor({squares->sum}, torch::kDouble));
  CHECK(torch::equal(sums, sums[0].expand_as(sums)));
  return true;
}

}  // namespace

TEST_CASE("squares of gradients come out of their reduction, from the first question on") {
  for (int size : {2, 3, 4}) {
    run_ranks(size, [](Group& group) {
      for (double bucket_mb : {25.0, 0.05, 0.001}) {
        // Buckets that are reduced in place, and some so small that they are copied.
        Chain model({7, 301, 33, 129, 2}, /*in_reverse=*/false);
        auto replicas = replicate(model, group, {.bucket_cap_mb = bucket_mb, .gradient_as_bucket_view = true});
        for (int step = 0; step < 4; ++step) {
          synced_backward(model.forward(torch::randn({3, 7})).pow(2).mean(), {replicas});
          CHECK(know_squares(*replicas, model, group) == (step > 0));
          if (step != 2) zero_grad(model);  // gradients add up once
        }
      }
    });
  }
}

TEST_CASE("a sum of squares is not known of gradients that have changed, and known again after the next backward") {
  run_ranks(2, [](Group& group) {
    Chain model({4, 50, 4});
    auto replicas = replicate(model, group);
    auto backward = [&] { synced_backward(model.forward(torch::randn({3, 4})).pow(2).mean(), {replicas}); };
    auto weight = model.layers[0]->weight;
    std::vector<std::function<void()>> changes{
        [&] { weight.grad().mul_(2); },
        [&] { weight.mutable_grad().reset(); },
        [&] { weight.mutable_grad() = torch::ones_like(weight); },
        [&] { at::_foreach_mul_({weight.grad()}, 0.5); },
        [&] { model.forward(torch::randn({3, 4})).pow(2).mean().backward(); },
    };
    backward();
    CHECK_FALSE(replicas->sum_of_squares());
    for (const auto& change : changes) {
      zero_grad(model);
      backward();
      CHECK(know_squares(*replicas, model, group));
      change();
      CHECK_FALSE(replicas->sum_of_squares());
    }
  });
}

TEST_CASE("one rank that did not ask leaves buckets in place without a sum, on all ranks") {
  run_ranks(3, [](Group& group) {
    Chain model({100, 300, 100});
    auto replicas = replicate(model, group);
    for (int step = 0; step < 4; ++step) {
      if (group.rank() > 0 || step == 2) replicas->sum_of_squares();
      zero_grad(model);
      synced_backward(model.forward(torch::randn({3, 100})).pow(2).mean(), {replicas});
    }
    CHECK(know_squares(*replicas, model, group));
    zero_grad(model);
    auto late = replicate(model, group);
    if (group.rank() == 1) late->sum_of_squares();
    for (int step = 0; step < 2; ++step) {
      zero_grad(model);
      synced_backward(model.forward(torch::randn({3, 100})).pow(2).mean(), {late});
    }
    CHECK_FALSE(late->sum_of_squares());
  });
}

TEST_CASE("squares of parameters that no rank used are none, and two models have sums of their own") {
  run_ranks(2, [](Group& group) {
    TwoHeads model;
    Chain other({4, 60, 200, 3});
    auto replicas = replicate(model, group, {.find_unused_parameters = true});
    auto others = replicate(other, group);
    for (int step = 0; step < 4; ++step) {
      bool use_left = step % 2 == 0;
      auto loss = model.forward(torch::randn({2, 4}), use_left).pow(2).sum();
      synced_backward(loss, {replicas, others});
      synced_backward(other.forward(torch::randn({2, 4})).pow(2).sum(), {replicas, others});
      CHECK(know_squares(*replicas, model, group) == (step > 0));
      CHECK(know_squares(*others, other, group) == (step > 0));
      if (auto squares = replicas->sum_of_squares()) CHECK(squares->num_gradients == 4);
      zero_grad(model);
      zero_grad(other);
    }
  });
}

TEST_CASE("squares are not summed for one process, compressed gradients and gradients outside the buckets") {
  run_ranks(1, [](Group& group) {
    Weight model(1);
    CHECK_FALSE(replicate(model, group)->can_sum_squares());
  });
  run_ranks(2, [](Group& group) {
    Weight model(1);
    CHECK_FALSE(replicate(model, group, {.gradient_as_bucket_view = false})->can_sum_squares());
    auto compressed = replicate(model, group, {.comm_hook = accelerate::parallel::CommHook::Bf16});
    for (int step = 0; step < 3; ++step) {
      synced_backward(model.forward(3), {compressed});
      CHECK_FALSE(compressed->sum_of_squares());
    }
  });
}
