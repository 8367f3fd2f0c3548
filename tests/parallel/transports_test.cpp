#include <doctest/doctest.h>

#include "accelerate/comm/partial_state.h"
#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::tests;
using comm::Group;

namespace {

/// The losses of a training whose buckets are large enough to be reduced in place, with torch's own optimizer.
at::Tensor losses_with(const std::string& backend, const DistributedDataParallelKwargs& kwargs) {
  comm::PartialState::reset();
  comm::PartialState state({.backend = backend});
  torch::manual_seed(3);
  Chain model({64, 300, 300, 8});
  auto replicas = replicate(model, state.group(), kwargs);
  torch::optim::AdamW adamw(model.parameters(), 1e-2);
  std::vector<at::Tensor> losses;
  for (int step = 0; step < 6; ++step) {
    torch::manual_seed(100 * state.process_index() + step);
    adamw.zero_grad();
    auto loss = model.forward(torch::randn({5, 64})).square().mean();
    synced_backward(loss, {replicas});
    adamw.step();
    losses.push_back(loss.detach());
  }
  return torch::stack(losses);
}

}  // namespace

TEST_CASE("two ranks train to the same bits through shared memory and over gloo") {
  tests::run_ranks(2, [](Group&) {
    for (const auto& kwargs : {DistributedDataParallelKwargs{}, DistributedDataParallelKwargs{.bucket_cap_mb = 0.1},
                               DistributedDataParallelKwargs{.gradient_as_bucket_view = false},
                               DistributedDataParallelKwargs{.static_graph = true}}) {
      CHECK(torch::equal(losses_with("shm", kwargs), losses_with("gloo", kwargs)));
    }
  });
}

TEST_CASE("gradients live in the buckets where ranks share memory, and torch's zero_grad can drop them") {
  tests::run_ranks(2, [](Group& group) {
    Chain model({4, 4});
    auto& layer = *model.layers[0];
    auto replicas = replicate(model, group);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    for (int step = 0; step < 3; ++step) {
      synced_backward(model.forward(torch::ones({1, 4})).sum(), {replicas});
      CHECK(layer.weight.grad().is_alias_of(layer.bias.grad()));
      sgd.zero_grad();
      CHECK_FALSE(layer.weight.grad().defined());
    }
    synced_backward(model.forward(torch::ones({1, 4})).sum(), {replicas});
    sgd.zero_grad(/*set_to_none=*/false);
    CHECK(layer.bias.grad().sum().item<float>() == 0);

    replicas = replicate(model, group, {.gradient_as_bucket_view = false});
    zero_grad(model);
    synced_backward(model.forward(torch::ones({1, 4})).sum(), {replicas});
    CHECK_FALSE(layer.weight.grad().is_alias_of(layer.bias.grad()));
  });
}
