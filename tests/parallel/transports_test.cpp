#include <doctest/doctest.h>

#include "accelerate/comm/connection.h"
#include "accelerate/comm/partial_state.h"
#include "tests/comm/two_levels.h"
#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::tests;
using comm::Group;

namespace {

/// The losses of a training whose buckets are large enough to be reduced in place, with torch's own optimizer.
at::Tensor losses_of(const Group& group, const DistributedDataParallelKwargs& kwargs) {
  torch::manual_seed(3);
  Chain model({64, 300, 300, 8});
  auto replicas = replicate(model, group, kwargs);
  torch::optim::AdamW adamw(model.parameters(), 1e-2);
  std::vector<at::Tensor> losses;
  for (int step = 0; step < 6; ++step) {
    torch::manual_seed(100 * group.rank() + step);
    adamw.zero_grad();
    auto loss = model.forward(torch::randn({5, 64})).square().mean();
    synced_backward(loss, {replicas});
    adamw.step();
    losses.push_back(loss.detach());
  }
  return torch::stack(losses);
}

at::Tensor losses_with(const std::string& backend, const DistributedDataParallelKwargs& kwargs) {
  comm::PartialState::reset();
  comm::PartialState state({.backend = backend});
  return losses_of(state.group(), kwargs);
}

/// The same on ranks that play those of several machines.
at::Tensor losses_on(const comm::Machines& machines, const DistributedDataParallelKwargs& kwargs) {
  comm::PartialState::reset();
  comm::PartialState state({.backend = "gloo"});
  const auto& process_group = state.group().connection()->process_group();
  using BackendType = c10d::ProcessGroup::BackendType;
  process_group->setBackend(c10::DeviceType::CPU, BackendType::CUSTOM, connect_as(state.group(), machines));
  process_group->setDefaultBackend(BackendType::CUSTOM);
  REQUIRE(process_group->getBackend(c10::DeviceType::CPU)->getBackendName() == "hierarchical");
  return losses_of(state.group(), kwargs);
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

TEST_CASE(
    "training over two levels has the bits of shared memory on two machines of one rank, and is close on two of two") {
  for (bool view : {false, true}) {
    const DistributedDataParallelKwargs kwargs{.bucket_cap_mb = 0.1, .gradient_as_bucket_view = view};
    tests::run_ranks(2,
                     [&](Group&) { CHECK(torch::equal(losses_on({{0}, {1}}, kwargs), losses_with("shm", kwargs))); });
    tests::run_ranks(4, [&](Group&) {
      const auto flat = losses_with("shm", kwargs);
      CHECK(torch::allclose(losses_on({{0, 1}, {2, 3}}, kwargs), flat, 1e-4, 1e-6));
      CHECK(torch::allclose(losses_with("gloo", kwargs), flat, 1e-4, 1e-6));
    });
  }
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
