// Embeddings whose gradients hold the rows that a batch has used.

#include <doctest/doctest.h>

#include "accelerate/parallel/replicas.h"
#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate::tests;
using accelerate::comm::Group;
using accelerate::parallel::CommHook;
using doctest::Contains;

TEST_CASE("sparse gradients are averaged, and stay sparse") {
  run_ranks(3, [](Group& group) {
    torch::nn::Embedding table(torch::nn::EmbeddingOptions(8, 2).sparse(true));
    auto replicas = replicate(*table, group);
    for (int step = 0; step < 3; ++step) {
      // Row 0 is used by all ranks, row rank + 1 by one of them, and the others by none.
      synced_backward(table(torch::tensor({0, group.rank() + 1})).sum() * 3, {replicas});
      REQUIRE(table->weight.grad().is_sparse());
      auto expected = torch::tensor({3., 1., 1., 1., 0., 0., 0., 0.}).unsqueeze(1).expand({8, 2});
      CHECK(torch::allclose(table->weight.grad().to_dense(), expected.to(torch::kFloat)));
      CHECK(table->weight.grad()._nnz() == 4);
      zero_grad(*table);
    }
  });
}

TEST_CASE("a model may have sparse and dense gradients") {
  run_ranks(2, [](Group& group) {
    torch::nn::Sequential model(torch::nn::Embedding(torch::nn::EmbeddingOptions(4, 2).sparse(true)),
                                torch::nn::Linear(2, 2), torch::nn::Linear(2, 1));
    auto replicas = replicate(*model, group);
    for (int step = 0; step < 3; ++step) {
      synced_backward(model->forward(torch::tensor({group.rank()})).sum(), {replicas});
      for (const auto& item : model->named_parameters()) {
        CAPTURE(item.key());
        auto gradient = item.value().grad();
        CHECK(gradient.is_sparse() == (item.key() == "0.weight"));
        CHECK(equal_on_all_ranks({gradient.is_sparse() ? gradient.to_dense() : gradient}, group));
      }
      zero_grad(*model);
    }
  });
}

TEST_CASE("sparse gradients travel in the type that a comm hook says") {
  run_ranks(2, [](Group& group) {
    for (auto hook : {CommHook::Fp16, CommHook::Bf16}) {
      torch::nn::Embedding table(torch::nn::EmbeddingOptions(4, 2).sparse(true));
      auto replicas = replicate(*table, group, {.comm_hook = hook});
      synced_backward(table(torch::tensor({group.rank()})).sum(), {replicas});
      CHECK(table->weight.grad().to_dense().sum(1).equal(torch::tensor({1.f, 1.f, 0.f, 0.f})));
    }
  });
}

TEST_CASE("a gradient that is sparse or dense against expectation is refused by name") {
  struct Tied : torch::nn::Module {
    Tied() { register_module("table", table); }
    torch::nn::Embedding table{torch::nn::EmbeddingOptions(4, 2).sparse(true)};
  };
  run_ranks(2, [](Group& group) {
    auto words = torch::tensor({1, 2});
    torch::nn::Linear layer(2, 4);
    auto replicas = replicate(*layer, group);
    auto loss = torch::embedding(layer->weight, words, -1, false, /*sparse=*/true).sum();
    CHECK(failure_of([&] { synced_backward(loss, {replicas}); }) == Contains("'weight' has a sparse gradient"));

    Tied tied;
    auto tied_replicas = replicate(tied, group);
    auto tied_loss = torch::matmul(tied.table(words), tied.table->weight.t()).sum();
    CHECK(failure_of([&] { synced_backward(tied_loss, {tied_replicas}); }) ==
          Contains("'table.weight' has a dense gradient"));
  });
}
