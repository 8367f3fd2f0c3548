#include <doctest/doctest.h>

#include "accelerate/accelerator.h"
#include "accelerate/base/environment.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/train/lr_scheduler.h"
#include "tests/support/torch.h"

using namespace accelerate;

TEST_CASE("what an Accelerator was asked for, and what came of it, can be read") {
  PatchEnvironment precision{{"ACCELERATE_MIXED_PRECISION", "bf16"}};
  Accelerator accelerator({.device_placement = false,
                           .gradient_accumulation_steps = 3,
                           .dataloader_config = {.split_batches = true,
                                                 .dispatch_batches = true,
                                                 .even_batches = false,
                                                 .use_seedable_sampler = true,
                                                 .non_blocking = true},
                           .step_scheduler_with_optimizer = false,
                           .rng_types = {"torch", "generator"},
                           .log_with = {"csv"},
                           .project_dir = "runs"});
  CHECK_FALSE(accelerator.options().mixed_precision.has_value());
  CHECK(accelerator.mixed_precision() == MixedPrecision::Bf16);
  CHECK(accelerator.options().gradient_accumulation_steps == 3);
  CHECK(accelerator.gradient_accumulation_steps() == 3);
  CHECK(accelerator.split_batches());
  CHECK(accelerator.dispatch_batches() == true);
  CHECK_FALSE(accelerator.even_batches());
  CHECK(accelerator.use_seedable_sampler());
  CHECK(accelerator.non_blocking());
  CHECK_FALSE(accelerator.device_placement());
  CHECK_FALSE(accelerator.step_scheduler_with_optimizer());
  CHECK(accelerator.rng_types() == std::vector<std::string>{"torch", "generator"});
  CHECK(accelerator.log_with().size() == 1);
  CHECK(accelerator.project_dir() == "runs");
  CHECK(accelerator.logging_dir() == "runs");

  accelerator.set_gradient_accumulation_steps(5);
  CHECK(accelerator.gradient_accumulation_steps() == 5);

  PatchEnvironment none{{"ACCELERATE_MIXED_PRECISION", "no"}};
  Accelerator plain;
  CHECK(plain.mixed_precision() == MixedPrecision::No);
  CHECK_FALSE(plain.split_batches());
  CHECK_FALSE(plain.dispatch_batches().has_value());
  CHECK(plain.even_batches());
  CHECK_FALSE(plain.use_seedable_sampler());
  CHECK_FALSE(plain.non_blocking());
  CHECK(plain.project_dir().empty());
}

TEST_CASE("a random state that there is not is refused, on one process too") {
  CHECK_THROWS_WITH_AS(Accelerator({.rng_types = {"torch", "foo"}}),
                       "rng_types has 'foo'; it can have torch, cuda and generator", Error);
  Accelerator none({.rng_types = {}});
}

TEST_CASE("a loss that is undefined is an error that asks for the labels") {
  Accelerator accelerator;
  CHECK_THROWS_WITH_AS(accelerator.backward(torch::Tensor()), doctest::Contains("did the batch have labels?"), Error);
  CHECK_THROWS_WITH_AS(accelerator.backward({}, {.num_items = 3}), doctest::Contains("the loss is undefined"), Error);
}

TEST_CASE("even_batches, set later, is that of the loaders that are prepared from then on") {
  Accelerator accelerator;
  data::DataLoader before(data::TensorDataset(torch::zeros({4, 1})));
  data::DataLoader after(data::TensorDataset(torch::zeros({4, 1})));
  auto first = accelerator.prepare(before);
  accelerator.set_even_batches(false);
  auto second = accelerator.prepare(after);
  CHECK(first.even_batches());
  CHECK_FALSE(second.even_batches());
}

TEST_CASE("optimizers and schedulers can be prepared by name, and are then the same as through prepare") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  torch::nn::Linear net(1, 1);
  auto model = accelerator.prepare_model(net);
  torch::optim::SGD sgd(net->parameters(), 1.0);
  LambdaLR halves(sgd, [](int64_t step) { return step == 0 ? 1.0 : 0.5; });

  Optimizer optimizer = accelerator.prepare_optimizer(sgd);
  Scheduler scheduler = accelerator.prepare_scheduler(halves);
  CHECK(&*optimizer == &sgd);
  CHECK(&*accelerator.prepare(sgd) == &sgd);
  CHECK(accelerator.optimizers().size() == 1);
  CHECK(accelerator.prepare_scheduler(scheduler) == scheduler);
  CHECK(accelerator.schedulers().size() == 1);

  const auto before = net->weight.item<float>();
  for (int step = 1; step <= 2; ++step) {
    auto accumulating = accelerator.accumulate(model);
    accelerator.backward(model(torch::ones({1, 1})).sum());
    optimizer.step();
    scheduler.step();
    // Both wait for the end of the window, so they know of each other and of the Accelerator.
    CHECK((net->weight.item<float>() == before) == (step == 1));
    CHECK(scheduler.get_last_lr().front() == (step == 1 ? 1.0 : 0.5));
    optimizer.zero_grad();
  }
  auto shared = accelerator.prepare_optimizer(std::make_shared<torch::optim::SGD>(net->parameters(), 0.1));
  CHECK(accelerator.optimizers().size() == 2);
}
