// Ranks of one machine share the optimizer's step unless they are told not to, and keep its state once.

#include <sys/syscall.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>
#include <torch/serialize.h>

#include "accelerate/accelerator.h"
#include "accelerate/base/environment.h"
#include "accelerate/tensors/tensor_memory.h"
#include "tests/support/failure_of.h"
#include "tests/support/forbid_call.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

constexpr int64_t kWidth = 2053;  // four million weights, in sizes that do not come out even

const AcceleratorOptions kByDefault{}, kAlone{.zero_stage = 0};

/// A training of a layer that is large enough to be shared by default, and of one that is not.
struct Training {
  explicit Training(const AcceleratorOptions& options, int64_t width = kWidth) : accelerator(options), net(nullptr) {
    torch::manual_seed(3);
    net = torch::nn::Sequential(torch::nn::Linear(width, width), torch::nn::Tanh(), torch::nn::Linear(width, 3));
    adamw = std::make_unique<torch::optim::AdamW>(net->parameters(), torch::optim::AdamWOptions(1e-2));
    optimizer.emplace(accelerator.prepare(*adamw));
    model.emplace(accelerator.prepare(net));
  }

  void backward(int number) {
    torch::manual_seed(100 * accelerator.process_index() + number);
    auto loss = (*model)(torch::randn({4, net[0]->as<torch::nn::Linear>()->weight.size(1)})).square().mean();
    accelerator.backward(loss);
    losses.push_back(loss.item<double>());
  }

  void train(int num_steps) {
    for (int i = 0; i < num_steps; ++i) {
      backward(i);
      optimizer->step();
      optimizer->zero_grad();
    }
  }

  std::vector<at::Tensor> copy_of_weights() const {
    std::vector<at::Tensor> weights;
    for (const auto& parameter : net->parameters()) weights.push_back(parameter.detach().clone());
    return weights;
  }

  void set_weights(const std::vector<at::Tensor>& weights) const {
    at::NoGradGuard no_grad;
    const auto parameters = net->parameters();
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(weights[i]);
  }

  torch::optim::AdamWParamState& state_of(const at::Tensor& parameter) const {
    return static_cast<torch::optim::AdamWParamState&>(*adamw->state().at(parameter.unsafeGetTensorImpl()));
  }

  Accelerator accelerator;
  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::AdamW> adamw;
  std::optional<Optimizer> optimizer;
  std::optional<Model<torch::nn::SequentialImpl>> model;
  std::vector<double> losses;
};

/// Calls `visit` with the same parameter of both.
template <class Visit>
void for_each_pair(const Training& left, const Training& right, Visit visit) {
  const auto ours = left.net->parameters(), theirs = right.net->parameters();
  for (size_t i = 0; i < ours.size(); ++i) visit(ours[i], theirs[i]);
}

/// Weights, and the state as torch's optimizer has it on this rank. Asks nothing of other ranks.
void check_same(const Training& left, const Training& right) {
  for_each_pair(left, right, [&](const at::Tensor& ours, const at::Tensor& theirs) {
    CHECK(torch::equal(ours, theirs));
    CHECK(torch::equal(left.state_of(ours).exp_avg(), right.state_of(theirs).exp_avg()));
    CHECK(torch::equal(left.state_of(ours).exp_avg_sq(), right.state_of(theirs).exp_avg_sq()));
    CHECK(left.state_of(ours).step() == right.state_of(theirs).step());
  });
}

/// Memory of this process in KiB. What several processes see is divided by their number.
int64_t proportional_kib() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    int64_t kib = 0;
    if (word == "Pss:" && rollup >> kib) return kib;
  }
  return 0;
}

/// By how much all ranks together grow in `work`.
int64_t growth_kib(comm::Group& group, const std::function<void()>& work) {
  tensors::release_tensor_memory();  // or `work` would use what was freed before
  group.barrier();
  const auto before = proportional_kib();
  group.barrier();
  work();
  group.barrier();
  auto growth = torch::tensor(proportional_kib() - before, torch::kLong);
  group.all_reduce(growth);
  return growth.item<int64_t>();
}

bool is_shared(const AcceleratorOptions& options, int64_t width = kWidth) {
  return Training(options, width).optimizer->is_sharded();
}

}  // namespace

TEST_CASE(
    "a step that ranks share by default has the bits of one that each takes alone, and so has the state of each") {
  for (int num_processes : {2, 4}) {
    run_ranks(num_processes, [](comm::Group&) {
      Training shared(kByDefault), alone(kAlone);
      REQUIRE(shared.optimizer->is_sharded());
      CHECK_FALSE(alone.optimizer->is_sharded());
      shared.train(3);
      alone.train(3);
      CHECK(shared.losses == alone.losses);
      check_same(shared, alone);
      CHECK(shared.state_of(shared.net->parameters().front()).exp_avg().dim() == 2);
    });
  }
}

TEST_CASE("a step with shared state that each rank takes on several threads has the same bits") {
  run_ranks(2, [](comm::Group&) {
    at::set_num_threads(3);
    Training shared(kByDefault), alone(kAlone);
    shared.train(3);
    alone.train(3);
    CHECK(shared.losses == alone.losses);
    check_same(shared, alone);
  });
}

TEST_CASE("a machine keeps the state of a shared step once") {
  run_ranks(2, [](comm::Group& group) {
    constexpr int64_t kStateKib = 2 * kWidth * kWidth * 4 / 1024;
    Training shared(kByDefault), alone(kAlone);
    REQUIRE(shared.optimizer->is_sharded());
    shared.backward(0);
    alone.backward(0);
    CHECK(growth_kib(group, [&] { shared.optimizer->step(); }) < kStateKib * 5 / 4);
    CHECK(growth_kib(group, [&] { alone.optimizer->step(); }) > kStateKib * 7 / 4);
  });
}

TEST_CASE("a step is shared where it is safe and pays") {
  run_ranks(2, [](comm::Group&) {
    CHECK(is_shared(kByDefault));
    CHECK(is_shared({.zero_stage = 1}));
    CHECK_FALSE(is_shared({.zero_stage = 0}));
    CHECK_FALSE(is_shared(kByDefault, /*width=*/1500));
    CHECK(is_shared({.zero_stage = 1}, /*width=*/1500));
    CHECK_FALSE(is_shared({.fused_optimizers = false}));
    {
      PatchEnvironment stage{{"ACCELERATE_ZERO_STAGE", "0"}};
      CHECK_FALSE(is_shared(kByDefault));
      CHECK(is_shared({.zero_stage = 1}));
    }
    {
      Accelerator accelerator;
      torch::nn::Linear large(kWidth, kWidth);
      torch::optim::SGD sgd(large->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
      auto [model, optimizer] = accelerator.prepare(large, sgd);
      CHECK_FALSE(optimizer.is_sharded());  // there is little to divide
    }
    comm::PartialState::reset();
    comm::PartialState over_network({.backend = "gloo"});
    CHECK_FALSE(is_shared(kByDefault));
    CHECK(is_shared({.zero_stage = 1}));
  });
}

TEST_CASE("where a rank may not write to the memory of others a step is shared only if that is asked for") {
  run_ranks(2, [](comm::Group& group) {
    if (group.rank() == 1) forbid_call(SYS_process_vm_writev);
    CHECK_FALSE(is_shared(kByDefault));
    Training asked({.zero_stage = 1}), alone(kAlone);
    REQUIRE(asked.optimizer->is_sharded());
    asked.train(3);
    alone.train(3);
    check_same(asked, alone);
  });
}

TEST_CASE("one rank alone saves torch's optimizer, also when the others have none any more") {
  run_ranks(2, [](comm::Group& group) {
    Training alone(kAlone);
    alone.train(2);
    auto shared = std::make_unique<Training>(kByDefault);
    shared->train(2);
    std::stringstream file;
    if (group.rank() == 1) torch::save(*shared->adamw, file);
    if (group.rank() == 0) shared.reset();
    group.barrier();
    if (group.rank() == 0) return;
    check_same(*shared, alone);
    torch::optim::AdamW loaded(alone.net->parameters());
    torch::load(loaded, file);
    for (const auto& parameter : alone.net->parameters()) {
      const auto& state =
          static_cast<torch::optim::AdamWParamState&>(*loaded.state().at(parameter.unsafeGetTensorImpl()));
      CHECK(torch::equal(state.exp_avg(), alone.state_of(parameter).exp_avg()));
      CHECK(torch::equal(state.exp_avg_sq(), alone.state_of(parameter).exp_avg_sq()));
    }
  });
}

TEST_CASE("state that is loaded, or put there by the program, is shared from the next step on") {
  run_ranks(2, [](comm::Group&) {
    Training alone(kAlone), fresh(kByDefault), stepped(kByDefault), assigned(kByDefault);
    alone.train(2);
    stepped.train(1);
    assigned.train(1);
    const auto saved =
        alone.optimizer->state_dict().map<at::Tensor>([](const at::Tensor& each) { return each.clone(); });
    fresh.optimizer->load_state_dict(saved);
    stepped.optimizer->load_state_dict(saved);
    for_each_pair(assigned, alone, [&](const at::Tensor& ours, const at::Tensor& theirs) {
      assigned.state_of(ours).exp_avg(alone.state_of(theirs).exp_avg().clone());
      assigned.state_of(ours).exp_avg_sq(alone.state_of(theirs).exp_avg_sq().clone());
      assigned.state_of(ours).step(alone.state_of(theirs).step());
    });
    const auto before = alone.copy_of_weights();
    alone.train(2);
    for (Training* training : {&fresh, &stepped, &assigned}) {
      CAPTURE(training - &fresh);
      training->set_weights(before);
      training->train(2);
      CHECK(training->optimizer->is_sharded());
      check_same(*training, alone);
    }

    const auto weight = fresh.net->parameters().front();
    const auto* memory = fresh.state_of(weight).exp_avg().const_data_ptr();
    fresh.optimizer->load_state_dict(saved);
    CHECK(fresh.state_of(weight).exp_avg().const_data_ptr() == memory);  // filled, not replaced
  });
}

TEST_CASE("a rank that no longer shares the step has the state for itself") {
  run_ranks(2, [](comm::Group& group) {
    Training shared(kByDefault), alone(kAlone);
    shared.train(2);
    alone.train(2);
    unshard(*shared.optimizer);
    CHECK_FALSE(shared.optimizer->is_sharded());
    check_same(shared, alone);
    // Torch's own step, on one rank: the others do not notice.
    shared.backward(2);
    if (group.rank() == 0) shared.adamw->step();
    group.barrier();
    alone.backward(2);
    if (group.rank() == 1) check_same(shared, alone);
  });
}

TEST_CASE("where one rank leaves a step out and goes on to backward, each is told what it did, and how to step alone") {
  run_ranks(2, [](comm::Group& group) {
    for (int steps_before : {0, 1}) {
      Training shared(kByDefault);
      shared.train(steps_before);
      shared.backward(1);
      const bool steps = group.rank() == 0;
      const auto message = failure_of([&] { steps ? shared.optimizer->step() : shared.backward(2); });
      CAPTURE(message);
      CHECK(message.find("mismatched collectives") != std::string::npos);
      CHECK(message.find(steps ? "which ranks share unless zero_stage is 0" : "gradients in backward") !=
            std::string::npos);
      group.barrier();
    }
  });
}

TEST_CASE("a rank that steps alone is told who is missing, and how to step alone") {
  run_ranks(2, [](comm::Group& group) {
    comm::PartialState::reset();
    Training shared({.timeout = std::chrono::seconds(2)});
    shared.train(1);
    shared.backward(1);
    if (group.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::seconds(4));
      return;
    }
    const auto message = failure_of([&] { shared.optimizer->step(); });
    CHECK(message.find("which ranks share unless zero_stage is 0") != std::string::npos);
    CHECK(message.find("did not take part: 1") != std::string::npos);
  });
}

}  // namespace accelerate::tests
