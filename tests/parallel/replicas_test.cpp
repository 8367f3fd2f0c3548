#include "accelerate/parallel/replicas.h"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace comm = accelerate::comm;
namespace parallel = accelerate::parallel;
namespace ranks = accelerate::ranks;
using namespace accelerate::tests;
using comm::Group;
using doctest::Contains;
using parallel::CommHook;
using parallel::DistributedDataParallelKwargs;

namespace {

/// Trains on shares of the batches and compares each gradient with that of the whole batch. Returns the largest
/// difference.
double distance_to_whole_batch(const Group& group, const DistributedDataParallelKwargs& kwargs, int num_steps = 4,
                               bool in_reverse = false) {
  std::vector<int64_t> widths{8, 24, 8, 24};  // fits in both directions
  torch::manual_seed(1 + group.rank());       // ranks start different on purpose
  Chain model(widths, in_reverse), whole(widths, in_reverse);
  auto replicas = replicate(model, group, kwargs);
  copy_parameters(model, whole);
  double largest = 0;
  for (int step = 0; step < num_steps; ++step) {
    torch::manual_seed(100 + step);
    auto batch = torch::randn({4 * group.size(), 8});
    whole.forward(batch).pow(2).mean().backward();
    synced_backward(model.forward(rows_of_rank(batch, group)).pow(2).mean(), {replicas});
    largest = std::max(largest, gradient_distance(model, whole));
    descend(model, 0.1);
    copy_parameters(model, whole);
    zero_grad(model);
    zero_grad(whole);
  }
  CHECK(equal_on_all_ranks(model.parameters(), group));
  return largest;
}

}  // namespace

TEST_CASE("gradients are those of the whole batch, from rank 0's parameters on") {
  for (int size : {1, 2, 3, 4}) {
    run_ranks(size, [](Group& group) { CHECK(distance_to_whole_batch(group, {}) < 1e-7); });
  }
}

TEST_CASE("gradients are right with several buckets, before and after buckets are rebuilt") {
  run_ranks(3, [](Group& group) {
    CHECK(distance_to_whole_batch(group, {.bucket_cap_mb = 0.001}) < 1e-7);
    CHECK(distance_to_whole_batch(group, {.bucket_cap_mb = 0.001}, 4, /*in_reverse=*/true) < 1e-7);
    CHECK(distance_to_whole_batch(group, {.bucket_cap_mb = 0.001, .gradient_as_bucket_view = true}, 4, true) < 1e-7);
  });
}

TEST_CASE("buckets follow the order of gradients after the first backward") {
  run_ranks(2, [](Group& group) {
    Chain model({16, 8, 16}, /*in_reverse=*/true);
    auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-6});
    auto of = [](const torch::Tensor& tensor) { return tensor.nbytes(); };
    auto &first = *model.layers[0], &second = *model.layers[1];
    std::vector<size_t> by_registration{of(second.bias), of(second.weight), of(first.bias), of(first.weight)};
    CHECK(replicas->bucket_bytes() == by_registration);
    for (int step = 0; step < 2; ++step) synced_backward(model.forward(torch::ones({2, 8})).sum(), {replicas});
    auto rebuilt = replicas->bucket_bytes();
    REQUIRE(rebuilt.size() == 4);
    CHECK(std::min(rebuilt[0], rebuilt[1]) == of(first.bias));
    CHECK(std::min(rebuilt[2], rebuilt[3]) == of(second.bias));
  });
}

TEST_CASE("a bucket is reduced while backward still computes") {
  run_ranks(2, [](Group& group) {
    Chain model({4, 4, 4});
    auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-6, .gradient_as_bucket_view = true});
    bool seen = false;
    auto body = model.layers[0](torch::ones({1, 4}));
    // Backward waits here for the last layer's gradient, which lives in its bucket, to become the mean of both ranks.
    body.register_hook([&](const torch::Tensor&) {
      auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!seen && std::chrono::steady_clock::now() < deadline) {
        seen = model.layers[1]->bias.grad()[0].item<float>() == 1.5f;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    synced_backward(model.layers[1](body).sum() * (group.rank() + 1), {replicas});
    CHECK(seen);
  });
}

TEST_CASE("compressed gradients are close: fp16 carries 11 bits, bf16 carries 8") {
  run_ranks(3, [](Group& group) {
    for (bool view : {false, true}) {
      double fp16 = distance_to_whole_batch(group, {.gradient_as_bucket_view = view, .comm_hook = CommHook::Fp16});
      double bf16 = distance_to_whole_batch(group, {.gradient_as_bucket_view = view, .comm_hook = CommHook::Bf16});
      CHECK(fp16 > 0);
      CHECK(fp16 < 1e-4);
      CHECK(bf16 > fp16);
      CHECK(bf16 < 1e-3);
    }
  });
}

TEST_CASE("gradients can live in the buckets") {
  run_ranks(2, [](Group& group) {
    CHECK(distance_to_whole_batch(group, {.gradient_as_bucket_view = true}) < 1e-7);
    Chain model({4, 4});
    auto replicas = replicate(model, group, {.gradient_as_bucket_view = true});
    synced_backward(model.forward(torch::ones({1, 4})).sum(), {replicas});
    CHECK(model.layers[0]->weight.grad().is_alias_of(model.layers[0]->bias.grad()));
  });
}

TEST_CASE("a static graph may leave parameters out, and may begin with local steps") {
  run_ranks(2, [](Group& group) {
    CHECK(distance_to_whole_batch(group, {.bucket_cap_mb = 0.001, .static_graph = true}) < 1e-7);

    TwoHeads model;
    auto replicas = replicate(model, group, {.static_graph = true});
    for (int window = 0; window < 3; ++window) {
      zero_grad(model);
      model.forward(torch::ones({1, 4}), true).sum().backward();
      synced_backward(model.forward(torch::ones({1, 4}), true).sum() * (1 + 2 * group.rank()), {replicas});
      CHECK(model.left->bias.grad()[0].item<float>() == 3);  // 1 local step and the mean of 1 and 3
      CHECK_FALSE(model.right->bias.grad().defined());
    }
    auto changed = model.forward(torch::ones({1, 4}), false).sum();
    CHECK(failure_of([&] { synced_backward(changed, {replicas}); }) != "");
  });
}

TEST_CASE("gradients stay local until a backward is armed, which averages their sum") {
  run_ranks(2, [](Group& group) {
    Weight model;
    auto replicas = replicate(model, group);
    double mine = group.rank() + 1;
    model.forward(mine).backward();
    CHECK(model.w.grad().item<double>() == mine);
    synced_backward(model.forward(10 * mine), {replicas});
    CHECK(model.w.grad().item<double>() == 16.5);
    synced_backward(model.forward(100 * mine), {replicas});  // on top of what is the same everywhere already
    CHECK(model.w.grad().item<double>() == 166.5);
    model.forward(mine).backward();
    CHECK(model.w.grad().item<double>() == 166.5 + mine);
  });
}

TEST_CASE("parameters without a gradient are named at once, on every rank, and training can go on") {
  run_ranks(2, [](Group& group) {
    TwoHeads model;
    auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-6});
    auto batch = torch::ones({1, 4});
    auto failure = failure_of([&] { synced_backward(model.forward(batch, true).sum(), {replicas}); });
    CHECK(failure == Contains("2 of 6 parameters: 'right.weight', 'right.bias'"));
    CHECK(failure == Contains("find_unused_parameters = true"));
    zero_grad(model);
    auto both = model.forward(batch, true).sum() + model.forward(batch, false).sum();
    synced_backward(both * (group.rank() + 1), {replicas});
    CHECK(model.left->bias.grad()[0].item<float>() == 1.5);
  });
}

TEST_CASE("many unused parameters are counted, a few named") {
  run_ranks(2, [](Group& group) {
    Chain model({2, 2, 2, 2, 2, 2});
    auto replicas = replicate(model, group);
    auto failure = failure_of([&] { synced_backward(model.layers[4](torch::ones({1, 2})).sum(), {replicas}); });
    CHECK(failure == Contains("8 of 10 parameters: 'layer0.weight', "));
    CHECK(failure == Contains("'layer2.weight', ..."));
  });
}

TEST_CASE("a rank that fails alone does not leave the others waiting") {
  auto start = std::chrono::steady_clock::now();
  auto failure = failure_of([] {
    ranks::run_ranks(2, [](Group& group) {
      TwoHeads model;
      auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-6});
      auto loss = model.forward(torch::ones({1, 4}), true).sum();
      if (group.rank() == 0) loss = loss + model.forward(torch::ones({1, 4}), false).sum();
      synced_backward(loss, {replicas});
    });
  });
  CHECK(failure != "");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("unused parameters can be looked for: the gradient of one that nobody used stays undefined") {
  run_ranks(3, [](Group& group) {
    TwoHeads model;
    auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-6, .find_unused_parameters = true});
    for (int step = 0; step < 2; ++step) {
      zero_grad(model);
      synced_backward(model.forward(torch::ones({1, 4}), true).sum(), {replicas});
      CHECK(model.left->bias.grad()[0].item<float>() == doctest::Approx(1));
      CHECK_FALSE(model.right->bias.grad().defined());
    }
  });
}

TEST_CASE("unused parameters can be looked for: every rank gets the mean of those that some used") {
  run_ranks(3, [](Group& group) {
    TwoHeads model;
    auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-6, .find_unused_parameters = true});
    synced_backward(model.forward(torch::ones({1, 4}), group.rank() == 0).sum() * 3, {replicas});
    CHECK(model.left->bias.grad()[0].item<float>() == doctest::Approx(1));
    CHECK(model.right->bias.grad()[0].item<float>() == doctest::Approx(2));
  });
}

TEST_CASE("unused parameters can be looked for: others may be unused in the next step") {
  run_ranks(2, [](Group& group) {
    TwoHeads model;
    auto replicas = replicate(model, group, {.find_unused_parameters = true});
    for (bool left : {true, false, true}) {
      zero_grad(model);
      synced_backward(model.forward(torch::ones({1, 4}), left).sum() * (group.rank() + 1), {replicas});
      auto& used = left ? model.left : model.right;
      CHECK(used->bias.grad()[0].item<float>() == 1.5);
    }
  });
}

TEST_CASE("unused parameters can be looked for: one used in a local step only is averaged too") {
  run_ranks(2, [](Group& group) {
    TwoHeads model;
    auto replicas = replicate(model, group, {.find_unused_parameters = true});
    (model.forward(torch::ones({1, 4}), false).sum() * (group.rank() + 1)).backward();
    synced_backward(model.forward(torch::ones({1, 4}), true).sum(), {replicas});
    CHECK(model.right->bias.grad()[0].item<float>() == 1.5);
  });
}

TEST_CASE("tied parameters are reduced once") {
  run_ranks(2, [](Group& group) {
    auto square = torch::nn::LinearOptions(4, 4).bias(false);
    torch::nn::Linear in(square), out(square);
    out->weight = in->weight;
    std::vector<parallel::NamedTensor> parameters{{"in.weight", in->weight}, {"out.weight", out->weight}};
    auto replicas = std::make_shared<parallel::Replicas>(parameters, std::vector<parallel::NamedTensor>{}, group);
    torch::NoGradGuard guard;
    in->weight.fill_(1);
    torch::AutoGradMode grad(true);
    synced_backward(out(in(torch::ones({1, 4}) * (group.rank() + 1))).sum(), {replicas});
    // d/dw of 1'W W x at W = ones and x = c: 4c from the outer and 4c from the inner use, and c is 1 and 2.
    CHECK(in->weight.grad().equal(torch::full({4, 4}, 12.0f)));
  });
}

TEST_CASE("a frozen model takes rank 0's values and is left alone afterwards") {
  run_ranks(2, [](Group& group) {
    Weight model(group.rank() + 1);
    model.w.requires_grad_(false);
    auto replicas = replicate(model, group);
    CHECK(model.w.item<double>() == 1);
    replicas->before_forward(true);
    replicas->arm(torch::ones({1}));
    replicas->after_backward();
    CHECK(replicas->bucket_bytes().empty());
  });
}

TEST_CASE("frozen parameters of a model in training are left out") {
  run_ranks(2, [](Group& group) {
    TwoHeads model;
    for (auto& parameter : model.right->parameters()) parameter.requires_grad_(false);
    auto replicas = replicate(model, group);
    synced_backward(model.forward(torch::ones({1, 4}), true).sum() * (group.rank() + 1), {replicas});
    CHECK(model.left->bias.grad()[0].item<float>() == 1.5);
  });
}

TEST_CASE("buffers follow rank 0's") {
  run_ranks(2, [](Group& group) {
    torch::nn::BatchNorm1d norm(2);
    norm->running_mean.fill_(group.rank());
    for (bool broadcast : {true, false}) {
      auto replicas = replicate(*norm, group, {.broadcast_buffers = broadcast});
      CHECK(equal_on_all_ranks(norm->buffers(), group));
      auto train = [&] {
        replicas->before_forward(true);
        return norm(torch::randn({8, 2}) + group.rank()).pow(2).sum();
      };
      // Two forwards before backward: the broadcast in between must not disturb the first one's graph.
      synced_backward(train() + train(), {replicas});
      CHECK_FALSE(equal_on_all_ranks({norm->running_mean}, group));
      auto rank0 = group.all_gather(norm->running_mean.reshape({1, 2}))[0].clone();
      replicas->before_forward(false);
      CHECK(equal_on_all_ranks(norm->buffers(), group) == broadcast);
      if (broadcast) CHECK(norm->running_mean.equal(rank0));
      // Nothing changed since: a rank may evaluate alone.
      if (group.rank() == 0) replicas->before_forward(false);
      group.barrier();
    }
  });
}

TEST_CASE("two models in one loop, armed for each other's losses, as in a GAN") {
  run_ranks(2, [](Group& group) {
    torch::manual_seed(group.rank());
    Chain generator({2, 6, 4}), critic({4, 6, 1}), whole_generator({2, 6, 4}), whole_critic({4, 6, 1});
    auto generators = replicate(generator, group), critics = replicate(critic, group);
    copy_parameters(generator, whole_generator);
    copy_parameters(critic, whole_critic);
    for (int step = 0; step < 3; ++step) {
      torch::manual_seed(10 + step);
      auto real = torch::randn({6, 4}), noise = torch::randn({6, 2});
      auto critic_loss = [](Chain& g, Chain& c, torch::Tensor real, torch::Tensor noise) {
        return (c.forward(g.forward(noise).detach()) - c.forward(real)).mean();
      };
      critic_loss(whole_generator, whole_critic, real, noise).backward();
      synced_backward(critic_loss(generator, critic, rows_of_rank(real, group), rows_of_rank(noise, group)),
                      {generators, critics});
      CHECK(gradient_distance(critic, whole_critic) < 1e-7);
      CHECK_FALSE(generator.layers[0]->weight.grad().defined());

      // A local step right after: the generator was armed for a loss that did not reach it.
      auto local = generator.forward(noise * (group.rank() + 1)).sum();
      local.backward();
      CHECK_FALSE(equal_on_all_ranks({generator.layers[0]->weight.grad()}, group));
      zero_grad(generator);

      whole_critic.forward(whole_generator.forward(noise)).mean().backward();
      synced_backward(critic.forward(generator.forward(rows_of_rank(noise, group))).mean(), {generators, critics});
      CHECK(gradient_distance(generator, whole_generator) < 1e-6);
      CHECK(gradient_distance(critic, whole_critic) < 1e-6);
      for (auto* model : {&generator, &critic, &whole_generator, &whole_critic}) zero_grad(*model);
    }
  });
}

TEST_CASE("a backward that throws does not spoil the next one") {
  run_ranks(2, [](Group& group) {
    Chain model({4, 4, 4});
    auto replicas = replicate(model, group, {.bucket_cap_mb = 1e-6});
    auto body = model.layers[0](torch::ones({1, 4}));
    body.register_hook([](const torch::Tensor&) { throw std::runtime_error("out of memory"); });
    auto loss = model.layers[1](body).sum();
    CHECK(failure_of([&] { synced_backward(loss, {replicas}); }) == Contains("out of memory"));
    zero_grad(model);
    synced_backward(model.forward(torch::ones({1, 4})).sum() * (group.rank() + 1), {replicas});
    CHECK(equal_on_all_ranks({model.layers[0]->weight.grad()}, group));
  });
}

TEST_CASE("a model can be prepared again once its replicas are gone") {
  run_ranks(2, [](Group& group) {
    Weight model;
    replicate(model, group);
    model.forward(group.rank() + 1).backward();
    CHECK(model.w.grad().item<double>() == group.rank() + 1);
    zero_grad(model);
    auto replicas = replicate(model, group);
    synced_backward(model.forward(group.rank() + 1), {replicas});
    CHECK(model.w.grad().item<double>() == 1.5);
  });
}

TEST_CASE("models that differ between ranks are an error on every rank, within 2 seconds, and no hang") {
  run_ranks(3, [](Group& group) {
    auto start = std::chrono::steady_clock::now();
    Chain model({4, group.rank() == 1 ? 5 : 4, 2});
    auto failure = failure_of([&] { replicate(model, group); });
    CHECK(failure == Contains("ranks 0, 2: parameter 'layer0.weight' Float [4, 4]"));
    CHECK(failure == Contains("rank 1: parameter 'layer0.weight' Float [5, 4]"));

    Chain deeper(group.rank() == 2 ? std::vector<int64_t>{4, 4, 4} : std::vector<int64_t>{4, 4});
    CHECK(failure_of([&] { replicate(deeper, group); }) == Contains("rank 2: parameter 'layer1.weight'"));

    Chain same({4, 4});
    auto cap = group.rank() == 0 ? 25.0 : 10.0;
    CHECK(failure_of([&] { replicate(same, group, {.bucket_cap_mb = cap}); }) == Contains("ranks 1, 2: options"));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  });
}

TEST_CASE("a bucket of no size is refused, and leaves no hooks behind") {
  run_ranks(2, [](Group& group) {
    Weight model;
    auto graph = model.forward(1);  // keeps the place alive where hooks hang
    CHECK(failure_of([&] { replicate(model, group, {.bucket_cap_mb = 0}); }) == Contains("bucket_cap_mb is 0"));
    graph.backward();
    CHECK(model.w.grad().item<double>() == 1);
  });
}
