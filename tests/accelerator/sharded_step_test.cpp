// Optimizers whose step is divided among ranks, compared with those that step everything on every rank.

#include <cmath>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <torch/nn/modules/conv.h>

#include "accelerate/accelerator.h"
#include "accelerate/base/environment.h"
#include "accelerate/local_sgd.h"
#include "accelerate/sharding/layout.h"
#include "accelerate/sharding/optimizer_sharding.h"
#include "accelerate/train/optimizer_access.h"
#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

/// Layers that are sharded and layers too small for it, one laid out in another order, and sizes that do not come out
/// even.
torch::nn::Sequential make_net() {
  torch::manual_seed(3);
  torch::nn::Sequential net(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 64, 3)),
                            torch::nn::Conv2d(torch::nn::Conv2dOptions(64, 33, 3)), torch::nn::Flatten(),
                            torch::nn::Linear(33 * 16, 301), torch::nn::Tanh(), torch::nn::Linear(301, 7));
  net[1]->as<torch::nn::Conv2d>()->weight.set_data(
      net[1]->as<torch::nn::Conv2d>()->weight.contiguous(at::MemoryFormat::ChannelsLast));
  return net;
}

using MakeOptimizer = std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<at::Tensor>)>;

template <class Type, class Options>
MakeOptimizer maker(Options options) {
  return [options](std::vector<at::Tensor> parameters) -> std::unique_ptr<torch::optim::Optimizer> {
    const auto half = parameters.begin() + 3;
    auto optimizer = std::make_unique<Type>(std::vector<at::Tensor>(parameters.begin(), half), options);
    auto faster = std::make_unique<Options>(options);
    faster->lr(options.lr() * 3);
    optimizer->add_param_group({{half, parameters.end()}, std::move(faster)});
    return optimizer;
  };
}

const std::vector<std::pair<const char*, MakeOptimizer>> kOptimizers = {
    {"AdamW", maker<torch::optim::AdamW>(torch::optim::AdamWOptions(1e-2))},
    {"AdamW with amsgrad", maker<torch::optim::AdamW>(torch::optim::AdamWOptions(1e-2).amsgrad(true))},
    {"Adam", maker<torch::optim::Adam>(torch::optim::AdamOptions(1e-2).weight_decay(0.1))},
    {"SGD", maker<torch::optim::SGD>(torch::optim::SGDOptions(1e-2))},
    {"SGD with momentum", maker<torch::optim::SGD>(torch::optim::SGDOptions(1e-2).momentum(0.9).nesterov(true))},
};

const AcceleratorOptions kSharded{.zero_stage = 1};

/// A training, all of which a rank can see.
struct Run {
  explicit Run(const AcceleratorOptions& options, const MakeOptimizer& make_optimizer = kOptimizers[0].second)
      : accelerator(options), net(make_net()), torch_optimizer(make_optimizer(net->parameters())) {}

  at::Tensor loss_of(int step) const {
    torch::manual_seed(100 * accelerator.process_index() + step);
    return model(torch::randn({4, 3, 8, 8})).square().mean();
  }

  void step(int number) { step(number, accelerator, optimizer); }

  void step(int number, Accelerator& with, Optimizer& stepping) {
    auto loss = loss_of(number);
    with.backward(loss);
    with.clip_grad_norm_(model.parameters(), max_norm);
    stepping.step();
    stepping.zero_grad();
    losses.push_back(loss.item<double>());
  }

  void train(int num_steps) {
    for (int i = 0; i < num_steps; ++i) step(i);
  }

  Accelerator accelerator;
  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::Optimizer> torch_optimizer;
  Optimizer optimizer = accelerator.prepare(*torch_optimizer);
  decltype(accelerator.prepare(net)) model = accelerator.prepare(net);
  double max_norm = 0.5;
  std::vector<double> losses;
};

std::vector<at::Tensor> state_of(const Run& run) {
  std::vector<at::Tensor> tensors;
  const auto state_dict = run.optimizer.state_dict();
  for (const auto& [number, state] : state_dict.at("state").entries()) {
    for (const auto& [key, value] : state.entries()) tensors.push_back(value.tensor());
  }
  return tensors;
}

/// Equal in every bit, and laid out alike.
void check_equal(const std::vector<at::Tensor>& left, const std::vector<at::Tensor>& right) {
  REQUIRE(left.size() == right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    CHECK(torch::equal(left[i], right[i]));
    CHECK(left[i].strides() == right[i].strides());
  }
}

void check_equal(const Run& sharded, const Run& whole) {
  CHECK(sharded.losses == whole.losses);
  check_equal(sharded.model.parameters(), whole.model.parameters());
  check_equal(state_of(sharded), state_of(whole));
}

/// Of the state that this rank keeps.
int64_t num_state_elements(const Run& run) {
  int64_t sum = 0;
  for (const auto& [parameter, state] : run.optimizer.state()) {
    const auto& adam = static_cast<const torch::optim::AdamWParamState&>(*state);
    sum += adam.exp_avg().numel() + adam.exp_avg_sq().numel();
  }
  return sum;
}

double exact_norm(const std::vector<at::Tensor>& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) sum += parameter.grad().to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

/// Of the memory that ranks share, what they use together.
int64_t shared_bytes(const comm::Group& group) {
  group.barrier();
  std::ifstream maps("/proc/self/smaps");
  int64_t kibibytes = 0;
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string key;
    int64_t value = 0;
    if (words >> key && !key.ends_with(':')) ours = line.find("memfd:accelerate") != std::string::npos;
    if (ours && key == "Pss:" && words >> value) kibibytes += value;
  }
  auto sum = torch::tensor({kibibytes * 1024}, torch::kLong);
  group.all_reduce(sum);
  return sum.item<int64_t>();
}

void use_transport(const std::string& backend) {
  comm::PartialState::reset();
  comm::PartialState state({.backend = backend});
}

}  // namespace

TEST_CASE("a step that ranks divide has the bits of one that each takes alone") {
  for (int num_processes : {2, 4}) {
    run_ranks(num_processes, [&](comm::Group&) {
      for (const auto& [name, make_optimizer] : kOptimizers) {
        CAPTURE(name);
        Run sharded(kSharded, make_optimizer), whole({}, make_optimizer);
        REQUIRE(sharded.optimizer.is_sharded());
        CHECK_FALSE(whole.optimizer.is_sharded());
        sharded.train(4);
        whole.train(4);
        check_equal(sharded, whole);
      }
    });
  }
}

TEST_CASE("a step that ranks divide over gloo has the bits of one that each takes alone") {
  run_ranks(2, [](comm::Group&) {
    use_transport("gloo");
    Run sharded(kSharded), whole({});
    sharded.train(3);
    whole.train(3);
    check_equal(sharded, whole);
  });
}

TEST_CASE("without common memory each rank keeps the state of its share") {
  run_ranks(4, [](comm::Group&) {
    use_transport("gloo");
    Run sharded(kSharded), whole({});
    sharded.train(1);
    whole.train(1);
    // Of 182,176 parameters 4,240 are too small to be shared.
    CHECK(num_state_elements(sharded) < num_state_elements(whole) / 4 + 2 * 4'240);
    unshard(sharded.optimizer);
    CHECK(num_state_elements(sharded) == num_state_elements(whole));
    sharded.step(1);
    whole.step(1);
    check_equal(sharded, whole);
  });
}

TEST_CASE("what is prepared again goes on") {
  run_ranks(2, [](comm::Group&) {
    Run sharded(kSharded), whole({});
    for (Run* run : {&sharded, &whole}) {
      run->train(2);
      run->accelerator.free_memory();
      run->optimizer = run->accelerator.prepare(*run->torch_optimizer);
      run->model = run->accelerator.prepare(run->net);
      run->train(2);
    }
    check_equal(sharded, whole);
  });
}

TEST_CASE("what was stepped before ranks shared the step goes on, and so does what they no longer share") {
  run_ranks(2, [](comm::Group&) {
    for (int64_t shared_stage : {1, 2}) {
      Run whole({}), changing({});
      if (shared_stage == 2) whole.max_norm = changing.max_norm = 1e9;  // what scales shares differs by rounding
      whole.train(6);
      changing.train(2);
      for (int64_t stage : {shared_stage, int64_t{0}}) {
        Accelerator other({.zero_stage = stage});
        auto [optimizer, model] = other.prepare(*changing.torch_optimizer, changing.model);
        CHECK(optimizer.is_sharded() == (stage != 0));
        const int first = stage != 0 ? 2 : 4;
        for (int i : {first, first + 1}) changing.step(i, other, optimizer);
      }
      check_equal(changing, whole);
    }
  });
}

TEST_CASE("what was stepped before is cut where each rank keeps the state of its share") {
  run_ranks(2, [](comm::Group&) {
    use_transport("gloo");
    Run stepped({});
    stepped.train(2);
    const auto before = num_state_elements(stepped);
    Accelerator other(kSharded);
    auto [optimizer, model] = other.prepare(*stepped.torch_optimizer, stepped.model);
    REQUIRE(optimizer.is_sharded());
    CHECK(num_state_elements(stepped) < before);
  });
}

TEST_CASE("a step that the scaler leaves out is left out by all ranks") {
  run_ranks(2, [](comm::Group&) {
    Run sharded({.mixed_precision = MixedPrecision::Fp16, .zero_stage = 1}),
        whole({.mixed_precision = MixedPrecision::Fp16});
    for (Run* run : {&sharded, &whole}) {
      run->step(0);
      auto loss = run->loss_of(1);
      run->accelerator.backward(loss * (run->accelerator.is_main_process() ? INFINITY : 1.0));
      run->optimizer.step();
      CHECK(run->accelerator.optimizer_step_was_skipped());
      run->optimizer.zero_grad();
      run->step(2);
      CHECK_FALSE(run->accelerator.optimizer_step_was_skipped());
    }
    check_equal(sharded, whole);
  });
}

TEST_CASE("ranks that train on gradients of their own step on their own, with the state they had") {
  run_ranks(2, [](comm::Group&) {
    Run sharded(kSharded), whole({});
    for (Run* run : {&sharded, &whole}) {
      run->train(2);
      {
        LocalSGD local_sgd(run->accelerator, run->model, 2);
        for (int i = 2; i < 6; ++i) {
          run->step(i);
          local_sgd.step();
        }
        local_sgd.finish();
      }
      run->step(6);
    }
    check_equal(sharded, whole);
  });
}

TEST_CASE("a rank that runs out of batches does not keep the others from stepping") {
  run_ranks(2, [](comm::Group&) {
    Run sharded(kSharded), whole({});
    for (Run* run : {&sharded, &whole}) {
      run->train(2);
      run->accelerator.join_uneven_inputs(run->model, [&] { run->train(run->accelerator.is_main_process() ? 3 : 1); });
    }
    check_equal(sharded.model.parameters(), whole.model.parameters());
    check_equal(state_of(sharded), state_of(whole));
  });
}

TEST_CASE("gradients of several backwards are averaged before they are shared") {
  run_ranks(2, [](comm::Group&) {
    Run sharded({.gradient_accumulation_steps = 2, .zero_stage = 1}), whole({.gradient_accumulation_steps = 2});
    for (Run* run : {&sharded, &whole}) {
      for (int i = 0; i < 4; ++i) {
        auto accumulating = run->accelerator.accumulate(run->model);
        run->step(i);
      }
    }
    check_equal(sharded, whole);
    CHECK(sharded.optimizer.is_sharded());
  });
}

TEST_CASE("clipping by shares gives the norm and the step of clipping, but for rounding") {
  for (double norm_type : {2.0, 1.0, double{INFINITY}}) {
    CAPTURE(norm_type);
    run_ranks(4, [&](comm::Group&) {
      Run sharded({.zero_stage = 1, .shared_clipping = true}), whole({.shared_clipping = true});
      std::vector<double> norms;
      for (Run* run : {&sharded, &whole}) {
        run->accelerator.backward(run->loss_of(0));
        norms.push_back(run->accelerator.clip_grad_norm_(run->model.parameters(), 0.01, norm_type).item<double>());
        run->optimizer.step();
      }
      CHECK(norms[0] == doctest::Approx(norms[1]).epsilon(1e-6));
      CHECK(norms[0] > 0.01);
      const auto left = sharded.model.parameters(), right = whole.model.parameters();
      for (size_t i = 0; i < left.size(); ++i) CHECK(torch::allclose(left[i], right[i], 1e-5, 1e-7));
    });
  }
}

TEST_CASE("the norm that comes out of the reduction is that of the gradients, with the same bits on all ranks") {
  for (int num_processes : {1, 2, 3, 4}) {
    for (int64_t zero_stage : {0, 1}) {
      run_ranks(num_processes, [&](comm::Group& group) {
        Run run({.zero_stage = zero_stage, .shared_clipping = true});
        for (int i = 0; i < 4; ++i) {
          run.accelerator.backward(run.loss_of(i));
          const bool known = record_of(run.model)->distributed()->sum_of_squares().has_value();
          CHECK(known == (i > 0 && num_processes > 1));
          const double exact = exact_norm(run.model.parameters());
          // Below the limit, and above it.
          const double limit = i % 2 == 0 ? 2 * exact : exact / 2;
          const auto norm = run.accelerator.clip_grad_norm_(run.model.parameters(), limit);
          CHECK((norm.scalar_type() == torch::kFloat));
          CHECK(norm.item<double>() == doctest::Approx(exact).epsilon(1e-6));
          const auto norms = group.all_gather(norm);
          CHECK(torch::equal(norms, norms[0].expand_as(norms)));
          if (zero_stage == 0) {
            CHECK(exact_norm(run.model.parameters()) == doctest::Approx(std::min(exact, limit)).epsilon(1e-5));
          }
          run.optimizer.step();
          run.optimizer.zero_grad();
        }
        CHECK(equal_on_all_ranks(run.model.parameters(), group));
      });
    }
  }
}

TEST_CASE("gradients that were changed are clipped by what they are now, whoever changed them") {
  for (int64_t zero_stage : {0, 1}) {
    run_ranks(2, [&](comm::Group& group) {
      Run run({.zero_stage = zero_stage, .shared_clipping = true});
      run.train(2);
      run.accelerator.backward(run.loss_of(2));
      // On one rank only, and without effect: all of them have to look again, or they would drift apart.
      auto gradient = run.model.parameters()[2].grad();
      if (group.rank() == 0) gradient.mul_(1.0);
      auto norms = group.all_gather(run.accelerator.clip_grad_norm_(run.model.parameters(), 1e9));
      CHECK(norms[0].item<double>() == norms[1].item<double>());
      gradient.mul_(100);
      const double exact = exact_norm(run.model.parameters());
      CHECK(run.accelerator.clip_grad_norm_(run.model.parameters(), 1e9).item<double>() ==
            doctest::Approx(exact).epsilon(1e-6));
      // A part of the parameters.
      CHECK(run.accelerator.clip_grad_norm_({run.model.parameters()[2]}, 1e9).item<double>() ==
            doctest::Approx(exact_norm({run.model.parameters()[2]})).epsilon(1e-6));
    });
  }
}

TEST_CASE("models are clipped together by the sums of their reductions, with parameters that no rank used") {
  run_ranks(3, [](comm::Group&) {
    Accelerator accelerator({.shared_clipping = true, .distributed_data_parallel = {.find_unused_parameters = true}});
    torch::nn::Sequential left(torch::nn::Linear(17, 33), torch::nn::Linear(33, 5)), right(torch::nn::Linear(17, 5));
    left->push_back(torch::nn::Linear(3, 3));  // which the loss leaves out
    auto [first, second] = accelerator.prepare(left, right);
    auto parameters = left->parameters();
    for (const auto& parameter : right->parameters()) parameters.push_back(parameter);
    for (int i = 0; i < 3; ++i) {
      const auto input = torch::randn({4, 17});
      const auto hidden = left[1]->as<torch::nn::Linear>()->forward(left[0]->as<torch::nn::Linear>()->forward(input));
      accelerator.backward((hidden - right->forward(input)).square().sum());
      CHECK_FALSE(left->parameters().back().grad().defined());
      CHECK(record_of(first)->distributed()->sum_of_squares().has_value() == (i > 0));
      CHECK(record_of(second)->distributed()->sum_of_squares().has_value() == (i > 0));
      const double exact = exact_norm(parameters);
      CHECK(accelerator.clip_grad_norm_(parameters, exact / 3).item<double>() == doctest::Approx(exact).epsilon(1e-6));
      CHECK(exact_norm(parameters) == doctest::Approx(exact / 3).epsilon(1e-5));
      for (auto& parameter : parameters) parameter.mutable_grad().reset();
    }
  });
}

TEST_CASE("shared clipping goes with accumulation, with a scaler, with ranks that run out of batches and local steps") {
  run_ranks(2, [](comm::Group&) {
    const auto close = [](const Run& left, const Run& right) {
      const auto these = left.model.parameters(), those = right.model.parameters();
      for (size_t i = 0; i < these.size(); ++i) CHECK(torch::allclose(these[i], those[i], 1e-4, 1e-5));
    };
    // Steps by the gradient itself, and so far that another norm would be seen.
    const auto descent = maker<torch::optim::SGD>(torch::optim::SGDOptions(1));
    for (auto precision : {MixedPrecision::No, MixedPrecision::Fp16}) {
      Run shared({.mixed_precision = precision, .gradient_accumulation_steps = 2, .shared_clipping = true}, descent),
          alone({.mixed_precision = precision, .gradient_accumulation_steps = 2}, descent);
      for (Run* run : {&shared, &alone}) {
        for (int i = 0; i < 6; ++i) {
          auto accumulating = run->accelerator.accumulate(run->model);
          run->accelerator.backward(run->loss_of(i));
          if (run->accelerator.sync_gradients()) run->accelerator.clip_grad_norm_(run->model.parameters(), 0.05);
          run->optimizer.step();
          run->optimizer.zero_grad();
        }
      }
      close(shared, alone);
    }
    Run shared({.shared_clipping = true}, descent), alone({}, descent);
    for (Run* run : {&shared, &alone}) {
      run->train(2);
      run->accelerator.join_uneven_inputs(run->model, [&] { run->train(run->accelerator.is_main_process() ? 3 : 1); });
      run->train(2);
      LocalSGD local_sgd(run->accelerator, run->model, 2);
      for (int i = 2; i < 6; ++i) {
        run->step(i);
        local_sgd.step();
      }
      local_sgd.finish();
    }
    close(shared, alone);
  });
}

TEST_CASE("a step of shared gradients has the bits of one that each rank takes alone") {
  for (int num_processes : {2, 3}) {
    run_ranks(num_processes, [&](comm::Group&) {
      for (const auto& [name, make_optimizer] : kOptimizers) {
        CAPTURE(name);
        Run shared({.zero_stage = 2}, make_optimizer), whole({.zero_stage = 0}, make_optimizer);
        for (Run* run : {&shared, &whole}) {
          for (int i = 0; i < 4; ++i) {
            run->accelerator.backward(run->loss_of(i));
            run->optimizer.step();
            run->optimizer.zero_grad();
          }
        }
        check_equal(shared, whole);
      }
    });
  }
}

TEST_CASE("shared gradients are added up before they are shared, and clipped by shares") {
  run_ranks(2, [](comm::Group&) {
    Run shared({.gradient_accumulation_steps = 2, .zero_stage = 2}),
        whole({.gradient_accumulation_steps = 2, .zero_stage = 0});
    for (Run* run : {&shared, &whole}) {
      for (int i = 0; i < 6; ++i) {
        auto accumulating = run->accelerator.accumulate(run->model);
        run->accelerator.backward(run->loss_of(i));
        if (run->accelerator.sync_gradients()) run->accelerator.clip_grad_value_(run->model.parameters(), 0.01);
        run->optimizer.step();
        run->optimizer.zero_grad();
      }
    }
    check_equal(shared, whole);

    for (double norm_type : {2.0, 1.0, double{INFINITY}}) {
      std::vector<double> norms;
      for (Run* run : {&shared, &whole}) {
        for (int i = 0; i < 2; ++i) {
          auto accumulating = run->accelerator.accumulate(run->model);
          run->accelerator.backward(run->loss_of(i));
        }
        norms.push_back(run->accelerator.clip_grad_norm_(run->model.parameters(), 1e-3, norm_type).item<double>());
        run->optimizer.step();
        run->optimizer.zero_grad();
      }
      // Added up in single precision, in another order.
      CHECK(norms[0] == doctest::Approx(norms[1]).epsilon(1e-4));
      const auto left = shared.model.parameters(), right = whole.model.parameters();
      for (size_t i = 0; i < left.size(); ++i) CHECK(torch::allclose(left[i], right[i], 1e-5, 1e-6));
    }
  });
}

TEST_CASE("a rank keeps the memory of its share of the gradients only, and reads zeros elsewhere") {
  for (int num_processes : {2, 4}) {
    run_ranks(num_processes, [&](comm::Group& group) {
      constexpr int64_t kElements = 4 * 1024 * 1024;
      Accelerator accelerator({.zero_stage = 2});
      const int64_t before = shared_bytes(group);
      torch::nn::Sequential net(torch::nn::Linear(2048, 2048));
      torch::optim::SGD sgd(net->parameters(), 1e-2);
      auto [model, optimizer] = accelerator.prepare(net, sgd);
      for (int i = 0; i < 2; ++i) {
        accelerator.backward(model(torch::ones({1, 2048})).sum());
        const int64_t held = shared_bytes(group) - before;
        // All ranks together: the pages of one copy, and here and there one more.
        CHECK(held > kElements * 4 * 9 / 10);
        CHECK(held < kElements * 4 * 11 / 10);
        const auto gradient = net->parameters()[0].grad().flatten();
        const auto shard = sharding::shard_of(kElements, group.rank(), group.size());
        CHECK(gradient.narrow(0, shard.begin, shard.length).eq(1).all().item<bool>());
        CHECK(gradient.ne(0).sum().item<int64_t>() < shard.length + 2 * 1024);
        optimizer.step();
        optimizer.zero_grad();
      }
    });
  }
}

TEST_CASE("gradients are whole again where ranks go separate ways, and may not be added to what is gone") {
  run_ranks(2, [](comm::Group&) {
    Run shared({.zero_stage = 2}), whole({.zero_stage = 0});
    for (Run* run : {&shared, &whole}) {
      run->accelerator.backward(run->loss_of(0));
      run->optimizer.step();
      run->optimizer.zero_grad();
      LocalSGD local_sgd(run->accelerator, run->model, 2);
      for (int i = 2; i < 6; ++i) {
        run->step(i);
        local_sgd.step();
      }
      local_sgd.finish();
    }
    for (Run* run : {&shared, &whole}) run->step(6);
    check_equal(shared, whole);

    Run ended({.zero_stage = 2});
    ended.accelerator.backward(ended.loss_of(0));
    unshard(ended.optimizer);
    for (const auto& parameter : ended.model->parameters()) {
      if (parameter.numel() >= 16 * 1024) CHECK_FALSE(parameter.grad().defined());  // a share would be taken for all
    }

    Run twice({.zero_stage = 2});
    twice.accelerator.backward(twice.loss_of(0));
    CHECK_THROWS_WITH_AS(twice.accelerator.backward(twice.loss_of(1)), doctest::Contains("zero_grad() first"), Error);
  });
}

TEST_CASE("gradients are not shared where that cannot be, and the message says why") {
  run_ranks(2, [](comm::Group&) {
    const auto refuses = [](const AcceleratorOptions& options, const char* reason) {
      CHECK_THROWS_WITH_AS(Accelerator{options}, doctest::Contains(reason), Error);
    };
    refuses({.mixed_precision = MixedPrecision::Fp16, .zero_stage = 2}, "mixed_precision is fp16");
    refuses({.zero_stage = 2, .distributed_data_parallel = {.gradient_as_bucket_view = false}},
            "gradient_as_bucket_view is false");
    refuses({.zero_stage = 2, .distributed_data_parallel = {.comm_hook = CommHook::Bf16}}, "comm_hook");
    refuses({.gradient_accumulation_plugin = {.sync_each_batch = true}, .zero_stage = 2}, "sync_each_batch");
    use_transport("gloo");
    refuses({.zero_stage = 2}, "ranks talk over gloo");
  });
  Accelerator alone({.zero_stage = 2});  // with nobody to share with
}

TEST_CASE("a hook of one's own averages gradients for a shared step, and not for shared gradients") {
  run_ranks(2, [](comm::Group&) {
    Run plain({.zero_stage = 1}), hooked({.zero_stage = 1});
    int num_buckets = 0;
    hooked.model.register_comm_hook([&](GradBucket& bucket, const comm::Group& group) {
      ++num_buckets;
      return allreduce_hook(bucket, group);
    });
    plain.train(3);
    hooked.train(3);
    CHECK(num_buckets >= 3);
    check_equal(hooked, plain);

    Run by_shares({.zero_stage = 2});
    by_shares.accelerator.backward(by_shares.loss_of(0));
    CHECK_THROWS_WITH_AS(by_shares.model.register_comm_hook(allreduce_hook), doctest::Contains("use zero_stage = 1"),
                         Error);
    Accelerator accelerator;
    auto evaluated = accelerator.prepare_model(torch::nn::Linear(2, 2), {.evaluation_mode = true});
    CHECK_THROWS_WITH_AS(evaluated.register_comm_hook(allreduce_hook), doctest::Contains("evaluation_mode"), Error);
  });
}

TEST_CASE("parameters that a loss leaves out, on one rank or on all, are left out of a shared step") {
  const auto train = [](int64_t zero_stage) {
    Accelerator accelerator({.zero_stage = zero_stage, .distributed_data_parallel = {.find_unused_parameters = true}});
    torch::manual_seed(3);
    torch::nn::Linear always(150, 150), sometimes(150, 150);
    torch::nn::Sequential net(always, sometimes);
    torch::optim::AdamW adamw(net->parameters(), torch::optim::AdamWOptions(1e-2));
    auto [model, optimizer] = accelerator.prepare(net, adamw);
    for (int i = 0; i < 5; ++i) {
      auto hidden = always(torch::full({2, 150}, 0.1 * (i + accelerator.process_index())));
      // On rank 0, on none, on rank 1, and so on.
      if ((i + accelerator.process_index()) % 3 == 0) hidden = sometimes(hidden);
      accelerator.backward(hidden.square().mean());
      CHECK(sometimes->weight.grad().defined() == (i % 3 != 1));
      optimizer.step();
      optimizer.zero_grad();
    }
    CHECK(optimizer.is_sharded() == (zero_stage > 0));
    return net->parameters();
  };
  run_ranks(2, [&](comm::Group&) {
    const auto alone = train(0);
    for (int64_t zero_stage : {1, 2}) check_equal(train(zero_stage), alone);
  });
}

TEST_CASE("parameters in bfloat16 are stepped by shares with the bits of a step that each rank takes alone") {
  const auto train = [](int64_t zero_stage) {
    Accelerator accelerator({.zero_stage = zero_stage});
    auto net = make_net();
    net->to(torch::kBFloat16);
    torch::optim::AdamW adamw(net->parameters(), torch::optim::AdamWOptions(1e-2));
    auto [model, optimizer] = accelerator.prepare(net, adamw);
    for (int i = 0; i < 3; ++i) {
      torch::manual_seed(100 * accelerator.process_index() + i);
      accelerator.backward(model(torch::randn({4, 3, 8, 8}).to(torch::kBFloat16)).to(torch::kFloat).square().mean());
      optimizer.step();
      optimizer.zero_grad();
    }
    CHECK(optimizer.is_sharded() == (zero_stage > 0));
    CHECK((net->parameters()[2].scalar_type() == torch::kBFloat16));
    return net->parameters();
  };
  run_ranks(2, [&](comm::Group&) {
    const auto alone = train(0);
    for (int64_t zero_stage : {1, 2}) check_equal(train(zero_stage), alone);
  });
}

TEST_CASE("parameters that an optimizer gets after it was prepared are stepped by shares too") {
  const auto train = [](int64_t zero_stage) {
    Accelerator accelerator({.zero_stage = zero_stage});
    torch::manual_seed(3);
    torch::nn::Linear first(150, 150), later(150, 150), elsewhere(150, 150);
    torch::nn::Sequential net(first, later), other(elsewhere);
    torch::optim::AdamW adamw(first->parameters(), torch::optim::AdamWOptions(1e-2));
    auto [model, next_model, optimizer] = accelerator.prepare(net, other, adamw);
    const auto step = [&](int number) {
      torch::manual_seed(100 * accelerator.process_index() + number);
      accelerator.backward(next_model(model(torch::randn({4, 150}))).square().mean());
      optimizer.step();
      for (auto& each : {net, other}) {
        for (auto& parameter : each->parameters()) parameter.mutable_grad().reset();
      }
    };
    const auto is_shared = [&](const torch::nn::Linear& layer) {
      const auto* sharding = train::OptimizerAccess::sharding(optimizer);
      return sharding && sharding->shards(layer->weight);
    };
    step(0);
    optimizer->add_param_group(torch::optim::OptimizerParamGroup(later->parameters()));
    CHECK(is_shared(later) == (zero_stage > 0));
    step(1);
    optimizer->add_param_group(torch::optim::OptimizerParamGroup(elsewhere->parameters()));
    optimizer = accelerator.prepare(adamw);  // since it did not step this model before
    CHECK(is_shared(elsewhere) == (zero_stage > 0));
    step(2);
    step(3);
    auto parameters = net->parameters();
    for (const auto& parameter : other->parameters()) parameters.push_back(parameter);
    return parameters;
  };
  run_ranks(2, [&](comm::Group&) {
    const auto alone = train(0);
    for (int64_t zero_stage : {1, 2}) check_equal(train(zero_stage), alone);
  });
}

TEST_CASE("a stage that there is not, and an optimizer that cannot be sharded, are refused") {
  CHECK_THROWS_WITH_AS(Accelerator({.zero_stage = 4}), doctest::Contains("zero_stage is 4; it can be 0, 1 or 2"),
                       Error);
  {
    PatchEnvironment stage{{"ACCELERATE_ZERO_STAGE", "3"}};
    CHECK_THROWS_WITH_AS(Accelerator(AcceleratorOptions{}), doctest::Contains("zero_stage is 3"), Error);
  }
  run_ranks(2, [](comm::Group&) {
    Accelerator accelerator(kSharded);
    auto net = make_net();
    torch::optim::RMSprop rmsprop(net->parameters());
    CHECK_THROWS_WITH_AS(accelerator.prepare(net, rmsprop), doctest::Contains("cannot be sharded"), Error);
  });
}

}  // namespace accelerate::tests
