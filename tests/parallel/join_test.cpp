#include "accelerate/parallel/join.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using accelerate::Error;
namespace comm = accelerate::comm;
namespace parallel = accelerate::parallel;
namespace ranks = accelerate::ranks;
using namespace accelerate::tests;
using comm::Group;
using parallel::CommHook;
using parallel::DistributedDataParallelKwargs;
using parallel::Join;

TEST_CASE("ranks with 5 and 3 batches train together, and end with the parameters of the longer one") {
  for (bool first_is_longer : {true, false}) {
    run_ranks(2, [=](Group& group) {
      Weight model;
      auto replicas = replicate(model, group);
      {
        Join join({replicas}, group);
        int num_batches = (group.rank() == 0) == first_is_longer ? 5 : 3;
        for (int batch = 1; batch <= num_batches; ++batch) {
          synced_backward(model.forward(batch * (group.rank() == 0 ? 1 : 10)), {replicas});
          descend(model, 1);
          zero_grad(model);
        }
        join.finish();
      }
      // Every gradient is divided by 2, also where one rank had nothing to add.
      double expected = first_is_longer ? -(15 + 60) / 2.0 : -(6 + 150) / 2.0;
      CHECK(model.w.item<double>() == expected);
      synced_backward(model.forward(group.rank()), {replicas});
      CHECK(model.w.grad().item<double>() == 0.5);
    });
  }
}

TEST_CASE("uneven ranks give the gradients of the batches there are, whatever the options") {
  std::vector<DistributedDataParallelKwargs> all{
      {.bucket_cap_mb = 1e-4},          {.bucket_cap_mb = 1e-4, .gradient_as_bucket_view = true},
      {.find_unused_parameters = true}, {.static_graph = true},
      {.comm_hook = CommHook::Bf16},    {.gradient_as_bucket_view = true, .comm_hook = CommHook::Fp16},
  };
  for (const auto& kwargs : all) {
    run_ranks(3, [&](Group& group) {
      Chain model({4, 8, 4}), alone({4, 8, 4});
      auto replicas = replicate(model, group, kwargs);
      auto batch_of = [](int rank, int step) {
        torch::manual_seed(10 * rank + step);
        return torch::randn({2, 4});
      };
      // Two steps before the scope: its buckets are the rebuilt ones.
      for (int step = 0; step < 2; ++step) synced_backward(model.forward(torch::ones({1, 4})).sum(), {replicas});
      zero_grad(model);
      copy_parameters(model, alone);
      int num_batches[] = {2, 0, 4};
      {
        Join join({replicas}, group);
        for (int step = 0; step < num_batches[group.rank()]; ++step) {
          synced_backward(model.forward(batch_of(group.rank(), step)).pow(2).mean(), {replicas});
          descend(model, 0.1);
          zero_grad(model);
        }
        join.finish();
      }
      for (int step = 0; step < 4; ++step) {
        for (int rank = 0; rank < 3; ++rank) {
          if (step < num_batches[rank]) (alone.forward(batch_of(rank, step)).pow(2).mean() / 3).backward();
        }
        descend(alone, 0.1);
        zero_grad(alone);
      }
      CHECK(equal_on_all_ranks(model.parameters(), group));
      double tolerance = kwargs.comm_hook == CommHook::No ? 1e-6 : 1e-3;
      auto mine = model.parameters(), expected = alone.parameters();
      for (size_t i = 0; i < mine.size(); ++i) CHECK(mine[i].allclose(expected[i], tolerance, tolerance));
    });
  }
}

TEST_CASE("two models, with buffers, in a scope that rank 0 leaves first") {
  run_ranks(2, [](Group& group) {
    Weight first(0), second(0);
    torch::nn::BatchNorm1d norm(1);
    auto firsts = replicate(first, group), seconds = replicate(second, group), norms = replicate(*norm, group);
    auto train = [&](const torch::Tensor& loss) {
      synced_backward(loss, {firsts, seconds, norms});
      for (auto* model : {&first, &second}) {
        descend(*model, 1);
        zero_grad(*model);
      }
    };
    {
      Join join({firsts, seconds, norms}, group);
      for (int batch = 0; batch < 2 + group.rank(); ++batch) {
        train(first.forward(1));
        norms->before_forward(true);
        auto normalised = norm(torch::full({2, 1}, 1.0 + group.rank()));
        train(first.forward(1) + second.forward(2) + normalised.sum());
      }
      join.finish();
    }
    // 2 for each batch that both ranks had, 1 for the last.
    CHECK(first.w.item<double>() == -5);
    CHECK(second.w.item<double>() == -5);
    CHECK(equal_on_all_ranks(norm->buffers(), group));
    // While both train the higher rank leads: three updates towards 2 by a tenth.
    CHECK(norm->running_mean.item<double>() == doctest::Approx(2 * (1 - 0.9 * 0.9 * 0.9)));
  });
}

TEST_CASE("parameters unused on all training ranks stay without a gradient") {
  run_ranks(2, [](Group& group) {
    TwoHeads model;
    auto replicas = replicate(model, group, {.find_unused_parameters = true});
    Join join({replicas}, group);
    for (int batch = 0; batch < 1 + group.rank(); ++batch) {
      zero_grad(model);
      synced_backward(model.forward(torch::ones({1, 4}), true).sum(), {replicas});
      CHECK_FALSE(model.right->bias.grad().defined());
      CHECK(model.left->bias.grad()[0].item<float>() == (batch == 0 ? 1 : 0.5));
    }
    join.finish();
  });
}

TEST_CASE("an exception leaves the scope without waiting") {
  Weight model;
  auto replicas = replicate(model, Group());
  auto failure = failure_of([&] {
    Join join({replicas}, Group());
    throw Error("broken");
  });
  CHECK(failure == "broken");

  auto peers = failure_of([] {
    ranks::run_ranks(2, [](Group& group) {
      Weight model;
      auto replicas = replicate(model, group);
      Join join({replicas}, group);
      if (group.rank() == 0) throw Error("no such file");
      synced_backward(model.forward(1), {replicas});
    });
  });
  CHECK(peers == doctest::Contains("no such file"));
}

TEST_CASE("a rank that has no batch any more adds nothing to sparse gradients") {
  run_ranks(2, [](Group& group) {
    torch::nn::Embedding table(torch::nn::EmbeddingOptions(4, 2).sparse(true));
    auto replicas = replicate(*table, group);
    Join join({replicas}, group);
    for (int batch = 0; batch < 2 - group.rank(); ++batch) {
      synced_backward(table(torch::tensor({group.rank()})).sum(), {replicas});
      auto expected = torch::tensor({0.5f, batch == 0 ? 0.5f : 0.f, 0.f, 0.f});
      CHECK(table->weight.grad().to_dense().select(1, 0).equal(expected));
      zero_grad(*table);
    }
    join.finish();
  });
}
