#include "accelerate/accelerator.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <torch/nn/functional/loss.h>

#include "accelerate/base/environment.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/local_sgd.h"
#include "accelerate/operations.h"
#include "accelerate/tensors/safetensors.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;
namespace F = torch::nn::functional;

namespace {

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t inputs = 4, int64_t outputs = 3) {
    first = register_module("first", torch::nn::Linear(inputs, 8));
    second = register_module("second", torch::nn::Linear(8, outputs));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto hidden = first(x);
    hidden_type = hidden.scalar_type();
    return second(hidden.relu());
  }
  torch::nn::Linear first{nullptr}, second{nullptr};
  at::ScalarType hidden_type{};
};
TORCH_MODULE(Net);

struct TwoInputs : torch::nn::Module {
  TwoInputs() { linear = register_module("linear", torch::nn::Linear(4, 4)); }
  std::tuple<torch::Tensor, int> forward(torch::Tensor x, torch::Tensor y, bool swap) {
    return {linear(swap ? y : x), 7};
  }
  torch::nn::Linear linear{nullptr};
};

/// One weight, so that gradients can be computed by hand: the loss of x is w * x.
struct WeightImpl : torch::nn::Module {
  WeightImpl() { w = register_parameter("w", torch::ones({1})); }
  torch::Tensor forward(const torch::Tensor& x) { return (w * x).mean(); }
  torch::Tensor w;
};
TORCH_MODULE(Weight);

data::TensorDataset<at::Tensor> numbers(int64_t first, int64_t last) {
  return data::TensorDataset(torch::arange(first, last + 1, torch::kFloat).reshape({-1, 1}));
}

double weight_of(const Model<WeightImpl>& model) { return model.parameters()[0].item<double>(); }

}  // namespace

TEST_CASE("prepare returns handles in the order of its arguments, whatever that is") {
  Accelerator accelerator;
  Net net;
  torch::optim::SGD sgd(net->parameters(), 0.1);
  torch::optim::StepLR decay(sgd, 1, 0.5);
  DataLoader batches(numbers(1, 8), {.batch_size = 2});
  auto [scheduler, loader, optimizer, model] = accelerator.prepare(decay, batches, sgd, net);
  CHECK(loader.size() == 4);
  accelerator.backward(model(torch::randn({2, 4})).sum());
  optimizer.step();
  scheduler.step();
  CHECK(optimizer.learning_rate() == doctest::Approx(0.05));
  optimizer.zero_grad();
  CHECK_FALSE(net->first->weight.grad().defined());
}

TEST_CASE("preparing twice gives the same handle, and rvalues are owned") {
  Accelerator accelerator;
  Net net;
  auto model = accelerator.prepare(net);
  CHECK(record_of(accelerator.prepare(net)) == record_of(model));
  CHECK(record_of(accelerator.prepare(model)) == record_of(model));
  auto optimizer = accelerator.prepare(torch::optim::AdamW(model->parameters(), 1e-3));
  CHECK(accelerator.optimizers().size() == 1);
  CHECK(&*accelerator.prepare(optimizer) == &*optimizer);
  CHECK(accelerator.optimizers().size() == 1);
  CHECK(accelerator.unwrap_model(model) == net.ptr());
  accelerator.free_memory();
  CHECK(accelerator.optimizers().empty());
}

TEST_CASE("loaders and schedulers prepared twice are one, and a pointer to a scheduler or an optimizer stands for it") {
  Accelerator accelerator;
  Net net;
  torch::optim::SGD sgd(net->parameters(), 1.0);
  torch::optim::StepLR decay(sgd, 1, 0.5);
  DataLoader batches(numbers(1, 8), {.batch_size = 2});
  auto [loader, scheduler] = accelerator.prepare(batches, decay);
  auto [loader_again, scheduler_again] = accelerator.prepare(batches, decay);
  CHECK(core_of(loader_again) == core_of(loader));
  CHECK(scheduler_again == scheduler);
  CHECK(accelerator.schedulers().size() == 1);

  auto shared = std::make_shared<torch::optim::Adam>(net->parameters(), 1.0);
  auto unique = std::make_unique<torch::optim::AdamW>(net->parameters(), 1.0);
  CHECK(&*accelerator.prepare(shared) == shared.get());
  CHECK(&*accelerator.prepare(unique) == unique.get());
  CHECK(accelerator.optimizers().size() == 2);
  auto owned = accelerator.prepare(std::make_unique<torch::optim::StepLR>(*shared, 1, 0.5));
  CHECK_FALSE(owned == scheduler);
  std::unique_ptr<torch::optim::LRScheduler> base = std::make_unique<torch::optim::StepLR>(*unique, 1, 0.25);
  auto of_base = accelerator.prepare(std::move(base));
  owned.step();
  of_base.step();
  CHECK(owned.get_last_lr() == std::vector<double>{0.5});
  CHECK(of_base.get_last_lr() == std::vector<double>{0.25});
  CHECK(accelerator.schedulers().size() == 3);
}

TEST_CASE("handles outlive free_memory and go to other Accelerators, and their replicas stay the same") {
  tests::run_ranks(2, [](comm::Group& group) {
    torch::manual_seed(7 + group.rank());
    Accelerator first, second;
    auto model = first.prepare(Net());
    auto optimizer = first.prepare(torch::optim::SGD(model->parameters(), 0.1));
    auto train_with = [&](Accelerator& accelerator) {
      accelerator.backward(model(torch::randn({4, 4})).square().mean());
      optimizer.step();
      optimizer.zero_grad();
      auto all = accelerator.gather(model->parameters()[0].detach().reshape({1, -1}));
      CHECK(torch::equal(all[0], all[1]));
    };
    first.free_memory();
    train_with(first);
    CHECK(first.optimizers().empty());
    CHECK(record_of(first.prepare(model)) == record_of(model));
    CHECK(first.prepare(optimizer).step_was_skipped() == false);
    CHECK(first.optimizers().size() == 1);
    train_with(first);
    auto [same, steps] = second.prepare(model, optimizer);
    CHECK(record_of(same) == record_of(model));
    train_with(second);

    first.free_memory();
    auto anew = first.prepare(model.module());  // the older handle is still around
    CHECK(record_of(anew) != record_of(model));
    train_with(first);
  });
}

TEST_CASE("any forward signature is called through the handle") {
  Accelerator accelerator({.mixed_precision = MixedPrecision::Bf16});
  auto two = accelerator.prepare(std::make_shared<TwoInputs>());
  auto [out, seven] = two(torch::randn({2, 4}), torch::randn({2, 4}), true);
  CHECK((out.scalar_type() == torch::kFloat));
  CHECK(seven == 7);
  auto sequential = accelerator.prepare(torch::nn::Sequential(torch::nn::Linear(4, 2), torch::nn::ReLU()));
  CHECK(sequential->forward(torch::randn({3, 4})).size(1) == 2);
}

TEST_CASE("bf16 and fp16 compute in half precision inside and return float32, on the CPU too") {
  for (auto [mode, type] : {std::pair(MixedPrecision::Bf16, torch::kBFloat16), {MixedPrecision::Fp16, torch::kHalf}}) {
    Accelerator accelerator({.mixed_precision = mode});
    auto model = accelerator.prepare(Net());
    auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 0.1));
    auto before = model->parameters()[0].detach().clone();
    auto out = model(torch::randn({5, 4}));
    CHECK(((*model).hidden_type == type));
    CHECK((out.scalar_type() == torch::kFloat));
    accelerator.backward(out.square().mean());
    CHECK(accelerator.clip_grad_norm_(model->parameters(), 1.0).item<double>() < 100);  // unscaled
    optimizer.step();
    CHECK_FALSE(accelerator.optimizer_step_was_skipped());
    CHECK((model->parameters()[0].scalar_type() == torch::kFloat));
    CHECK_FALSE(torch::equal(before, model->parameters()[0]));
    CHECK((accelerator.scaler() != nullptr) == (mode == MixedPrecision::Fp16));
    auto scope = accelerator.autocast();
    CHECK((torch::mm(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type() == type));
  }
}

TEST_CASE("the precision and the steps come from the argument, then the environment in any case, then the default") {
  PatchEnvironment environment{{"ACCELERATE_MIXED_PRECISION", "BF16"}, {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4"}};
  CHECK((Accelerator().mixed_precision() == MixedPrecision::Bf16));
  CHECK((Accelerator({.mixed_precision = MixedPrecision::No}).mixed_precision() == MixedPrecision::No));
  CHECK(Accelerator().gradient_accumulation_steps() == 4);
  CHECK(Accelerator({.gradient_accumulation_steps = 2}).gradient_accumulation_steps() == 2);
  PatchEnvironment unknown{{"ACCELERATE_MIXED_PRECISION", "fp32"}};
  CHECK_THROWS_WITH_AS(Accelerator(), doctest::Contains("no, fp16 or bf16"), Error);
  CHECK_THROWS_WITH_AS(Accelerator({.mixed_precision = MixedPrecision::No, .gradient_accumulation_steps = 0}),
                       doctest::Contains("at least 1"), Error);
}

TEST_CASE("accumulation steps at the end of each window and of the loader") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  DataLoader batches(numbers(1, 5), {.batch_size = 1});
  auto [loader, model] = accelerator.prepare(batches, Weight());
  auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 1.0));
  std::vector<bool> synced;
  std::vector<int64_t> steps;
  std::vector<double> gradients;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : loader) {
      auto accumulating = accelerator.accumulate(model);
      accelerator.backward(model(torch::ones_like(batch)));
      synced.push_back(accelerator.sync_gradients());
      steps.push_back(accelerator.gradient_state()->step);
      gradients.push_back(model->parameters()[0].grad().item<double>());
      optimizer.step();
      optimizer.zero_grad();
    }
  }
  CHECK(synced == std::vector<bool>{0, 1, 0, 1, 1, 0, 1, 0, 1, 1});
  CHECK(steps == std::vector<int64_t>{1, 2, 3, 4, 0, 1, 2, 3, 4, 0});
  CHECK(gradients == std::vector<double>{.5, 1, .5, 1, .5, .5, 1, .5, 1, .5});
}

TEST_CASE("an incomplete last window is divided by its real length when asked") {
  Accelerator accelerator({.gradient_accumulation_plugin = {.num_steps = 4, .scale_last_window = true}});
  DataLoader batches(numbers(1, 6), {.batch_size = 1});
  auto [loader, model] = accelerator.prepare(batches, Weight());
  auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 0.0));
  std::vector<double> ends;
  for (auto& batch : loader) {
    auto accumulating = accelerator.accumulate(model);
    accelerator.backward(model(batch));
    if (accelerator.sync_gradients()) ends.push_back(model->parameters()[0].grad().item<double>());
    optimizer.step();
    optimizer.zero_grad();
  }
  CHECK(ends == std::vector<double>{2.5, 5.5});  // means of 1..4 and of 5, 6
}

TEST_CASE("a weight with two names is clipped, scaled and stepped once") {
  struct Tied : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return (first * x + second * x).sum(); }
    torch::Tensor first = register_parameter("first", torch::zeros({1}));
    torch::Tensor second = register_parameter("second", first);
  };
  Accelerator accelerator({.gradient_accumulation_plugin = {.num_steps = 4, .scale_last_window = true}});
  DataLoader batches(numbers(1, 2), {.batch_size = 1});
  auto net = std::make_shared<Tied>();
  torch::optim::SGD sgd(net->parameters(), 1.0);
  auto [loader, model, optimizer] = accelerator.prepare(batches, net, sgd);
  CHECK(model->parameters().size() == 1);
  for (auto& batch : loader) {
    auto accumulating = accelerator.accumulate(model);
    accelerator.backward(model(batch));
    if (accelerator.sync_gradients()) {
      CHECK(net->first.grad().item<double>() == 3);  // twice the mean of 1 and 2
      CHECK(accelerator.clip_grad_norm_(net->parameters(), 100).item<double>() == 3);
    }
    optimizer.step();
    optimizer.zero_grad();
  }
  CHECK(net->first.item<double>() == -3);
}

TEST_CASE("an incomplete last window is scaled for the models of the scope only, and once for each") {
  Accelerator accelerator({.gradient_accumulation_plugin = {.num_steps = 4, .scale_last_window = true}});
  DataLoader batches(numbers(1, 2), {.batch_size = 1});
  auto [loader, critic, generator] = accelerator.prepare(batches, Weight(), Weight());
  auto gradient = [](const auto& model) { return model->parameters()[0].grad().template item<double>(); };
  for (auto& batch : loader) {
    for (auto* model : {&critic, &generator}) {
      auto accumulating = accelerator.accumulate(*model);
      accelerator.backward((*model)(batch));
    }
  }
  CHECK(gradient(critic) == 1.5);  // the mean of 1 and 2
  CHECK(gradient(generator) == 1.5);
}

TEST_CASE("the steps of accumulation can be changed between windows") {
  Accelerator accelerator;
  auto model = accelerator.prepare(Weight());
  accelerator.set_gradient_accumulation_steps(2);
  std::vector<bool> synced;
  for (int step = 0; step < 4; ++step) {
    auto accumulating = accelerator.accumulate(model);
    accelerator.backward(model(torch::ones({1})));
    synced.push_back(accelerator.sync_gradients());
  }
  CHECK(synced == std::vector<bool>{false, true, false, true});
  CHECK(model->parameters()[0].grad().item<double>() == 2);  // four halves
  CHECK_THROWS_WITH_AS(accelerator.set_gradient_accumulation_steps(0), doctest::Contains("at least 1"), Error);
}

TEST_CASE("fp16 gradients are unscaled when asked, and before they are clamped; at most once per step") {
  Accelerator accelerator({.mixed_precision = MixedPrecision::Fp16, .grad_scaler = {.init_scale = 16}});
  auto model = accelerator.prepare(Weight());
  auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 1.0));
  auto gradient = [&] { return model->parameters()[0].grad().item<double>(); };
  auto begin_step = [&] {
    optimizer.zero_grad();
    accelerator.backward(model(torch::full({1}, 3.0)));
    CHECK(gradient() == 48);
  };
  begin_step();
  accelerator.unscale_gradients();
  CHECK(gradient() == 3);
  CHECK_THROWS(accelerator.unscale_gradients(optimizer));
  optimizer.step();
  CHECK(weight_of(model) == -2);

  begin_step();
  accelerator.clip_grad_value_(model->parameters(), 0.5);
  CHECK(gradient() == 0.5);
  optimizer.step();
  CHECK(weight_of(model) == -2.5);
}

TEST_CASE("a schedule that does not follow the optimizers steps whenever it is told to") {
  Accelerator accelerator({.gradient_accumulation_steps = 2, .step_scheduler_with_optimizer = false});
  auto model = accelerator.prepare(Weight());
  auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 1.0));
  auto scheduler = accelerator.prepare(LambdaLR(*optimizer, [](int64_t step) { return 1.0 / (step + 1); }));
  auto accumulating = accelerator.accumulate(model);
  CHECK_FALSE(accelerator.sync_gradients());
  scheduler.step();
  CHECK(optimizer.learning_rate() == 0.5);
}

TEST_CASE("nested loaders keep their own ends, and a break leaves none behind") {
  Accelerator accelerator;
  DataLoader outer_batches(numbers(1, 3), {.batch_size = 1});
  DataLoader inner_batches(numbers(1, 2), {.batch_size = 1});
  auto [outer, inner] = accelerator.prepare(outer_batches, inner_batches);
  std::vector<bool> ends;
  for ([[maybe_unused]] auto& batch : outer) {
    ends.push_back(accelerator.end_of_dataloader());
    for ([[maybe_unused]] auto& other : inner) break;
    CHECK(accelerator.end_of_dataloader() == ends.back());
  }
  CHECK(ends == std::vector<bool>{false, false, true});
  CHECK(accelerator.remainder() == -1);
}

TEST_CASE("two ranks with half batches learn what one process learns from whole ones") {
  for (int world : {2, 3, 4}) {
    tests::run_ranks(world, [world](comm::Group& group) {
      torch::manual_seed(group.rank());  // rank 0's weights win
      Accelerator accelerator;
      Net net;
      torch::optim::SGD sgd(net->parameters(), 0.1);
      auto [model, optimizer] = accelerator.prepare(net, sgd);
      Net reference;
      {
        torch::NoGradGuard no_grad;
        for (size_t i = 0; i < net->parameters().size(); ++i) reference->parameters()[i].copy_(net->parameters()[i]);
      }
      torch::optim::SGD reference_sgd(reference->parameters(), 0.1);
      for (int step = 0; step < 5; ++step) {
        torch::manual_seed(100 + step);
        auto x = torch::randn({4 * world, 4});
        auto y = torch::randint(3, {4 * world});
        reference_sgd.zero_grad();
        F::cross_entropy(reference(x), y).backward();
        reference_sgd.step();
        auto mine = [&](const torch::Tensor& all) { return all.narrow(0, 4 * group.rank(), 4); };
        accelerator.backward(F::cross_entropy(model(mine(x)), mine(y)));
        optimizer.step();
        optimizer.zero_grad();
      }
      for (size_t i = 0; i < net->parameters().size(); ++i) {
        CHECK(torch::allclose(net->parameters()[i], reference->parameters()[i], 1e-6, 1e-6));
      }
    });
  }
}

TEST_CASE("gradients stay local under no_sync and accumulate, until a window ends or a sync is triggered") {
  tests::run_ranks(2, [](comm::Group& group) {
    double rank = group.rank();
    Accelerator accelerator;
    auto model = accelerator.prepare(Weight());
    auto gradient = [&] { return model->parameters()[0].grad().item<double>(); };
    auto x = torch::full({1}, rank + 1);  // gradients 1 and 2
    {
      auto local = accelerator.no_sync(model);
      accelerator.backward(model(x));
      CHECK(gradient() == rank + 1);
    }
    accelerator.backward(model(x));
    CHECK(gradient() == 3.0);  // mean of 2 and 4

    model->parameters()[0].mutable_grad() = at::Tensor();
    std::vector<torch::Tensor> losses;
    for (int i = 0; i < 3; ++i) {
      auto local = accelerator.no_sync(model);
      losses.push_back(model(x));
    }
    accelerator.backward(losses[0]);
    accelerator.backward(losses[1]);
    CHECK(gradient() == 2 * (rank + 1));
    auto trigger = accelerator.trigger_sync_in_backward(model);
    accelerator.backward(losses[2]);
    CHECK(gradient() == 4.5);
  });
}

TEST_CASE("a plain loss.backward() averages gradients as accelerator.backward(loss) does, but not under no_sync") {
  tests::run_ranks(2, [](comm::Group& group) {
    double rank = group.rank();
    for (bool find_unused : {false, true}) {
      Accelerator accelerator({.distributed_data_parallel = {.find_unused_parameters = find_unused}});
      Weight weight;
      auto model = accelerator.prepare(weight);
      auto gradient = [&] { return weight->w.grad().item<double>(); };
      auto x = torch::full({1}, rank + 1);  // gradients 1 and 2
      weight->forward(x).backward();
      CHECK(gradient() == rank + 1);  // past the handle, as past Python's wrapper
      weight->w.mutable_grad() = at::Tensor();
      {
        auto local = accelerator.no_sync(model);
        model(x).backward();
        CHECK(gradient() == rank + 1);
      }
      model(x).backward();
      CHECK(gradient() == 3.0);  // mean of 2 and 4
      CHECK_FALSE(record_of(model)->distributed()->gradients_are_local());
      weight->w.mutable_grad() = at::Tensor();
      auto first = model(x), second = model(2 * x);
      first.backward();
      accelerator.backward(second);
      CHECK(gradient() == 4.5);
      weight->w.mutable_grad() = at::Tensor();

      // Prepared again, by another Accelerator: the newer handle averages, once.
      Accelerator other;
      auto newer = other.prepare(weight);
      newer(x).backward();
      CHECK(gradient() == 1.5);
      weight->w.mutable_grad() = at::Tensor();
      other.backward(newer(x));
      CHECK(gradient() == 1.5);
    }
  });
}

TEST_CASE("ranks that call loss.backward() and clip keep their models the same, whoever averages the gradients") {
  tests::run_ranks(2, [](comm::Group& group) {
    torch::manual_seed(group.rank());
    Accelerator accelerator;
    Net net;
    auto [model, optimizer] = accelerator.prepare(net, torch::optim::AdamW(net->parameters(), 0.1));
    for (int step = 0; step < 6; ++step) {
      auto loss = model(torch::randn({3, 4})).pow(2).mean();
      step % 3 == 1 ? accelerator.backward(loss) : loss.backward();
      accelerator.clip_grad_norm_(model.parameters(), 0.01);
      optimizer.step();
      optimizer.zero_grad();
      // A backward that fails halfway leaves nothing behind.
      auto hidden = net->first(torch::randn({3, 4}));
      hidden.register_hook([](const at::Tensor&) { throw std::runtime_error("halfway"); });
      CHECK_THROWS_WITH(net->second(hidden).sum().backward(), "halfway");
      CHECK(net->second->weight.grad().defined());
      optimizer.zero_grad();
    }
    for (const auto& parameter : model.parameters()) {
      auto all = accelerator.gather(parameter.detach().reshape({1, -1}));
      CHECK(torch::equal(all[0], all[1]));
    }
    model(torch::ones({2, 4}));
    CHECK_THROWS_WITH_AS(net->first(torch::ones({2, 4})).sum().backward(), doctest::Contains("second.weight"), Error);
  });
}

TEST_CASE("two models of one loop, as in a GAN, each keep their replicas equal") {
  tests::run_ranks(2, [](comm::Group& group) {
    torch::manual_seed(7 + group.rank());
    Accelerator accelerator;
    auto [generator, critic] = accelerator.prepare(Net(4, 4), Net(4, 1));
    auto generator_step = accelerator.prepare(torch::optim::Adam(generator->parameters(), 1e-2));
    auto critic_step = accelerator.prepare(torch::optim::Adam(critic->parameters(), 1e-2));
    for (int step = 0; step < 4; ++step) {
      auto fake = generator(torch::randn({8, 4}));
      accelerator.backward(critic(fake.detach()).mean() - critic(torch::randn({8, 4})).mean());
      critic_step.step();
      critic_step.zero_grad();
      accelerator.backward(-critic(generator(torch::randn({8, 4}))).mean());
      generator_step.step();
      generator_step.zero_grad();
      critic_step.zero_grad();
    }
    for (const auto& model : {generator.parameters(), critic.parameters()}) {
      for (const auto& parameter : model) {
        auto all = accelerator.gather(parameter.detach().reshape({1, -1}));
        CHECK(torch::equal(all[0], all[1]));
      }
    }
  });
}

TEST_CASE("an unused parameter is named in the same step, and allowed when asked for") {
  auto train = [](bool find_unused) {
    Accelerator accelerator({.distributed_data_parallel = {.find_unused_parameters = find_unused}});
    auto model = accelerator.prepare(Net());
    accelerator.backward((*model).first(torch::randn({2, 4})).sum());
  };
  CHECK_THROWS_WITH_AS(ranks::run_ranks(2, [&](comm::Group&) { train(false); }), doctest::Contains("second.weight"),
                       Error);
  tests::run_ranks(2, [&](comm::Group&) { train(true); });
}

TEST_CASE("a rank that does not come to the backward pass is named when the time is up") {
  tests::run_ranks(2, [](comm::Group& everyone) {
    PartialState::reset();
    Accelerator accelerator({.timeout = std::chrono::seconds(2)});
    auto model = accelerator.prepare(Weight());
    if (everyone.rank() == 0) {
      CHECK_THROWS_WITH_AS(accelerator.backward(model(torch::ones({1}))), doctest::Contains("did not take part: 1"),
                           Error);
    }
    everyone.barrier();
  });
}

TEST_CASE("gather_for_metrics drops the samples repeated to even out the last batch, of tensors and of objects") {
  tests::run_ranks(2, [](comm::Group&) {
    Accelerator accelerator;
    for (int64_t n : {1, 5, 7, 8, 9}) {
      auto loader = accelerator.prepare(DataLoader(numbers(1, n), {.batch_size = 2}));
      int64_t tensors = 0, objects = 0;
      for (auto& batch : loader) {
        tensors += accelerator.gather_for_metrics(batch).size(0);
        std::vector<std::string> names(batch.size(0), "x");
        objects += accelerator.gather_for_metrics(names).size();
      }
      CHECK(tensors == n);
      CHECK(objects == n);
    }
  });
}

TEST_CASE("gather_for_metrics gathers and cuts the texts of a batch with its tensors") {
  struct Texts {
    int64_t size() const { return 5; }
    std::pair<torch::Tensor, std::string> get(int64_t i) const { return {torch::tensor(i), "n" + std::to_string(i)}; }
  };
  tests::run_ranks(2, [](comm::Group&) {
    Accelerator accelerator;
    auto loader = accelerator.prepare(DataLoader(Texts(), {.batch_size = 2}));
    std::vector<std::string> texts;
    for (auto& batch : loader) {
      auto [numbers, names] = accelerator.gather_for_metrics(batch);
      REQUIRE(names.size() == static_cast<size_t>(numbers.size(0)));
      for (size_t i = 0; i < names.size(); ++i) CHECK(names[i] == "n" + std::to_string(numbers[i].item<int64_t>()));
      texts.insert(texts.end(), names.begin(), names.end());
    }
    CHECK(texts == std::vector<std::string>{"n0", "n1", "n2", "n3", "n4"});
  });
}

TEST_CASE("loaders copy the random states that were asked for from rank 0 when an epoch begins") {
  tests::run_ranks(2, [](comm::Group& group) {
    for (bool copied : {false, true}) {
      torch::manual_seed(group.rank());
      Accelerator accelerator({.rng_types = copied ? std::vector<std::string>{"torch"} : std::vector<std::string>{}});
      auto loader = accelerator.prepare(DataLoader(numbers(1, 4)));
      auto walk = loader.begin();
      auto drawn = accelerator.gather(torch::rand({1}));
      CHECK(torch::equal(drawn[0], drawn[1]) == copied);
    }
  });
}

TEST_CASE("functions run on the process that is named, and the main process of a machine enters a scope first") {
  tests::run_ranks(2, [](comm::Group& group) {
    Accelerator accelerator;
    auto rank = [&] { return group.rank(); };
    auto ran_here = [&](auto function) { return function().has_value(); };
    CHECK(ran_here(accelerator.on_main_process(rank)) == (group.rank() == 0));
    CHECK(ran_here(accelerator.on_local_main_process(rank)) == (group.rank() == 0));
    CHECK(ran_here(accelerator.on_last_process(rank)) == (group.rank() == 1));
    CHECK(ran_here(accelerator.on_process(rank, 1)) == (group.rank() == 1));
    CHECK(ran_here(accelerator.on_local_process(rank, 1)) == (group.rank() == 1));

    auto path = std::filesystem::path(ACCELERATE_BINARY_DIR) / "entered_first";
    if (group.rank() == 0) std::filesystem::remove(path);
    accelerator.wait_for_everyone();
    auto scope = accelerator.local_main_process_first();
    CHECK(std::filesystem::exists(path) == (group.rank() == 1));
    if (group.rank() == 0) std::ofstream(path) << "done";
  });
}

TEST_CASE("a trigger set on one rank is seen once by all") {
  tests::run_ranks(2, [](comm::Group& group) {
    Accelerator accelerator;
    CHECK_FALSE(accelerator.check_trigger());
    if (group.rank() == 1) accelerator.set_trigger();
    CHECK(accelerator.check_trigger());
    CHECK_FALSE(accelerator.check_trigger());
  });
}

TEST_CASE("ranks with different numbers of batches train to the end and agree") {
  tests::run_ranks(2, [](comm::Group& group) {
    Accelerator accelerator;
    auto [loader, model] = accelerator.prepare(DataLoader(numbers(1, 3), {.batch_size = 1}), Weight());
    auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 0.1));
    int batches = 0;
    auto train = [&] {
      for (auto& batch : loader) {
        accelerator.backward(model(batch));
        optimizer.step();
        optimizer.zero_grad();
        ++batches;
      }
    };
    accelerator.join_uneven_inputs(std::tie(model), train, {.even_batches = false});
    CHECK(batches == (group.rank() == 0 ? 2 : 1));
    // Gradients: the mean of 1 and 2, then 3 from one rank of two.
    CHECK(weight_of(model) == doctest::Approx(1 - 0.1 * 1.5 - 0.1 * 1.5));
    CHECK(loader.even_batches());
  });
}

TEST_CASE("LocalSGD averages parameters after every few steps and at the end") {
  tests::run_ranks(2, [](comm::Group& group) {
    Accelerator accelerator;
    auto model = accelerator.prepare(Weight());
    auto optimizer = accelerator.prepare(torch::optim::SGD(model->parameters(), 1.0));
    std::vector<double> seen;
    {
      LocalSGD local_sgd(accelerator, model, 2);
      for (int step = 0; step < 3; ++step) {
        accelerator.backward(model(torch::full({1}, group.rank() + 1.0)));
        optimizer.step();
        optimizer.zero_grad();
        local_sgd.step();
        seen.push_back(weight_of(model));
      }
      local_sgd.finish();
    }
    seen.push_back(weight_of(model));
    CHECK(seen == (group.rank() == 0 ? std::vector<double>{0, -2, -3, -3.5} : std::vector<double>{-1, -2, -4, -3.5}));
  });
}

TEST_CASE("a frozen model is prepared without a complaint, and one for evaluation has no gradients to average") {
  tests::run_ranks(2, [](comm::Group&) {
    Accelerator accelerator;
    Net frozen;
    for (auto& parameter : frozen->parameters()) parameter.set_requires_grad(false);
    auto model = accelerator.prepare(frozen);
    CHECK(model(torch::ones({1, 4})).size(1) == 3);
    auto evaluated = accelerator.prepare_model(Net(), {.evaluation_mode = true});
    CHECK(evaluated(torch::ones({1, 4})).size(1) == 3);
    CHECK_THROWS_WITH_AS(accelerator.join_uneven_inputs(evaluated, [] {}), doctest::Contains("evaluation"), Error);
  });
}

TEST_CASE("the state dict has Python's order, no prefix, and is saved by the main process alone") {
  Accelerator accelerator;
  auto model = accelerator.prepare(torch::nn::Sequential(torch::nn::Linear(2, 2), torch::nn::BatchNorm1d(2)));
  auto state = accelerator.get_state_dict(model);
  CHECK(state.keys() == std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean",
                                                 "1.running_var", "1.num_batches_tracked"});
  auto path = std::string(ACCELERATE_BINARY_DIR) + "/state.safetensors";
  accelerator.save(state, path);
  CHECK(tensors::load_safetensors(path).size() == 7);
}

TEST_CASE("the free functions work on all processes of the job") {
  tests::run_ranks(2, [](comm::Group& group) {
    set_seed(3);
    CHECK(gather(torch::ones({2})).size(0) == 4);
    CHECK(reduce(torch::full({1}, group.rank() + 1.0))[0].item<double>() == 1.5);
    CHECK(broadcast(torch::full({1}, group.rank()), 1)[0].item<int64_t>() == 1);
    CHECK(gather_object(std::vector<int>{group.rank()}) == std::vector<int>{0, 1});
    CHECK(pad_across_processes(torch::ones({group.rank() + 1})).size(0) == 2);
    wait_for_everyone();
  });
}
