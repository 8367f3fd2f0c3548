// Which optimizers share the gradients of which models, and for how long: several of each, handles that outlive
// free_memory(), optimizers that end before the accelerator does.

#include <sys/mman.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "accelerate/accelerator.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

constexpr int64_t kNarrow = 151;  // a weight that is shared, and a bias that is not

torch::nn::Sequential make_layers(int seed) {
  torch::manual_seed(seed);
  return torch::nn::Sequential(torch::nn::Linear(kNarrow, kNarrow), torch::nn::Tanh(),
                               torch::nn::Linear(kNarrow, kNarrow));
}

at::Tensor noise(const Accelerator& accelerator, int number) {
  torch::manual_seed(100 * accelerator.process_index() + number);
  return torch::randn({4, kNarrow});
}

void check_same_bits(const std::vector<at::Tensor>& left, const std::vector<at::Tensor>& right) {
  REQUIRE(left.size() == right.size());
  for (size_t i = 0; i < left.size(); ++i) CHECK(torch::equal(left[i], right[i]));
}

void check_close(const std::vector<at::Tensor>& left, const std::vector<at::Tensor>& right) {
  REQUIRE(left.size() == right.size());
  for (size_t i = 0; i < left.size(); ++i) CHECK(torch::allclose(left[i], right[i], 1e-5, 1e-6));
}

/// Of the large weight of `net`, whether this rank has little more than half of the gradient.
bool has_a_share_of_gradients(const torch::nn::Sequential& net) {
  const auto gradient = net->parameters()[0].grad();
  return gradient.ne(0).sum().item<int64_t>() < gradient.numel() * 3 / 4;
}

/// One model with one optimizer.
struct SingleModel {
  explicit SingleModel(int64_t zero_stage) : accelerator({.zero_stage = zero_stage}) {}

  void backward(int number) { accelerator.backward(model(noise(accelerator, number)).square().mean()); }

  void step(int number) {
    backward(number);
    optimizer->step();
    optimizer->zero_grad();
  }

  Accelerator accelerator;
  torch::nn::Sequential net = make_layers(3);
  torch::optim::AdamW adamw{net->parameters(), torch::optim::AdamWOptions(1e-2)};
  Model<torch::nn::SequentialImpl> model = accelerator.prepare(net);
  std::optional<Optimizer> optimizer = accelerator.prepare(adamw);
};

/// Two models with an optimizer each. The loss of the first goes through the second, whose gradients it does not want.
struct Adversaries {
  explicit Adversaries(int64_t zero_stage) : accelerator({.zero_stage = zero_stage}) {}

  void step(int number) {
    {
      auto local = accelerator.no_sync(judge);
      accelerator.backward(judge(artist(noise(accelerator, number))).square().mean());
    }
    norms.push_back(accelerator.clip_grad_norm_(artist.parameters(), 1e9).item<double>());
    artist_optimizer.step();
    artist_optimizer.zero_grad();
    judge_optimizer.zero_grad();
    const auto drawn = artist(noise(accelerator, number)).detach();
    accelerator.backward((judge(drawn) - judge(noise(accelerator, -number))).mean());
    judge_optimizer.step();
    judge_optimizer.zero_grad();
  }

  Accelerator accelerator;
  torch::nn::Sequential artist_net = make_layers(3), judge_net = make_layers(5);
  torch::optim::AdamW artist_adamw{artist_net->parameters(), torch::optim::AdamWOptions(1e-2)};
  torch::optim::SGD judge_sgd{judge_net->parameters(), torch::optim::SGDOptions(1e-2).momentum(0.9)};
  Model<torch::nn::SequentialImpl> artist = accelerator.prepare(artist_net), judge = accelerator.prepare(judge_net);
  Optimizer artist_optimizer = accelerator.prepare(artist_adamw), judge_optimizer = accelerator.prepare(judge_sgd);
  std::vector<double> norms;
};

/// One model whose first layer has another optimizer than its last.
struct Halves {
  explicit Halves(int64_t zero_stage) : accelerator({.zero_stage = zero_stage}) {}

  std::vector<at::Tensor> layer(int number) { return net[number]->parameters(); }

  void step(int number) {
    accelerator.backward(model(noise(accelerator, number)).square().mean());
    for (auto* optimizer : {&first, &last}) {
      optimizer->step();
      optimizer->zero_grad();
    }
  }

  Accelerator accelerator;
  torch::nn::Sequential net = make_layers(3);
  torch::optim::AdamW first_adamw{layer(0), torch::optim::AdamWOptions(1e-2)};
  torch::optim::AdamW last_adamw{layer(2), torch::optim::AdamWOptions(1e-2)};
  Model<torch::nn::SequentialImpl> model = accelerator.prepare(net);
  Optimizer first = accelerator.prepare(first_adamw), last = accelerator.prepare(last_adamw);
};

/// An optimizer in a page of its own, which nobody may touch when it has ended.
class Fenced {
 public:
  explicit Fenced(const std::vector<at::Tensor>& parameters)
      : page_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        adamw_(new(page_) torch::optim::AdamW(parameters, torch::optim::AdamWOptions(1e-2))) {}
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() {
    std::destroy_at(adamw_);
    mprotect(page_, kBytes, PROT_NONE);
  }

  torch::optim::AdamW& operator*() const { return *adamw_; }

 private:
  static constexpr size_t kBytes = 4096;
  static_assert(sizeof(torch::optim::AdamW) <= kBytes);

  void* page_;
  torch::optim::AdamW* adamw_;
};

}  // namespace

TEST_CASE("gradients of one model that stay local do not end the sharing of another model's optimizer") {
  run_ranks(2, [](comm::Group&) {
    Adversaries alone(0);
    for (int i = 1; i < 4; ++i) alone.step(i);
    for (int64_t zero_stage : {1, 2}) {
      CAPTURE(zero_stage);
      Adversaries shared(zero_stage);
      for (int i = 1; i < 4; ++i) shared.step(i);
      CHECK(shared.artist_optimizer.is_sharded());
      CHECK(shared.judge_optimizer.is_sharded());
      check_same_bits(shared.artist.parameters(), alone.artist.parameters());
      check_same_bits(shared.judge.parameters(), alone.judge.parameters());
      for (size_t i = 0; i < alone.norms.size(); ++i) {
        CHECK(shared.norms[i] == doctest::Approx(alone.norms[i]).epsilon(1e-5));
      }
    }
  });
}

TEST_CASE("an optimizer without a step that ranks can share is refused only where it steps a model of several ranks") {
  run_ranks(2, [](comm::Group&) {
    Accelerator accelerator({.zero_stage = 1});
    auto net = make_layers(3), other = make_layers(5);
    torch::optim::AdamW adamw(net->parameters());
    torch::optim::RMSprop rmsprop(other->parameters());
    auto [model, optimizer, apart] = accelerator.prepare(net, adamw, rmsprop);
    CHECK(optimizer.is_sharded());
    CHECK_FALSE(apart.is_sharded());
    CHECK_THROWS_WITH_AS(accelerator.prepare(other), doctest::Contains("cannot be sharded"), Error);
  });
}

TEST_CASE("gradients that one optimizer of a model needs whole stay whole, whatever is prepared later") {
  run_ranks(2, [](comm::Group&) {
    Halves shared(2), alone(0);
    auto later = make_layers(7);
    torch::optim::AdamW later_adamw(later->parameters());
    for (Halves* run : {&shared, &alone}) {
      run->step(0);
      unshard(run->first);
      auto [model, optimizer] = run->accelerator.prepare(later, later_adamw);
      for (int i = 1; i < 4; ++i) run->step(i);
      run->accelerator.free_memory();
    }
    CHECK_FALSE(shared.first.is_sharded());
    CHECK(shared.last.is_sharded());
    check_same_bits(shared.model.parameters(), alone.model.parameters());
  });
}

TEST_CASE("that shares of gradients are dropped is a warning on every rank, but at the end") {
  run_ranks(2, [](comm::Group&) {
    const auto warns = [](const std::function<void()>& work) {
      return captured_stderr(work).find("of which this rank kept only its shard, are dropped") != std::string::npos;
    };
    SingleModel stopped(2), ended(2);
    stopped.backward(0);
    CHECK(warns([&] { unshard(*stopped.optimizer); }));
    ended.backward(0);
    CHECK_FALSE(warns([&] { ended.accelerator.end_training(); }));
  });
}

TEST_CASE("gradients are shared for as long as an optimizer that shares them is in use") {
  run_ranks(2, [](comm::Group&) {
    SingleModel single(2);
    single.step(0);
    single.accelerator.free_memory();
    single.optimizer = single.accelerator.prepare(single.adamw);  // and the first handle is gone
    REQUIRE(single.optimizer->is_sharded());
    single.backward(1);
    CHECK(has_a_share_of_gradients(single.net));
    single.optimizer->step();
    single.optimizer->zero_grad();
    single.accelerator.free_memory();
    single.optimizer.reset();
    single.backward(2);
    CHECK_FALSE(has_a_share_of_gradients(single.net));  // as torch's own optimizer needs it
  });
}

TEST_CASE("what free_memory() forgot still clips by shares, and still waits for ranks that run out of batches") {
  run_ranks(2, [](comm::Group&) {
    SingleModel shared(2), alone(0);
    std::vector<double> norms;
    for (SingleModel* run : {&shared, &alone}) {
      run->step(0);
      run->accelerator.free_memory();
      for (int i = 1; i < 4; ++i) {
        run->backward(i);
        norms.push_back(run->accelerator.clip_grad_norm_(run->model.parameters(), 1e-3).item<double>());
        run->optimizer->step();
        run->optimizer->zero_grad();
      }
    }
    for (size_t i = 0; i < 3; ++i) CHECK(norms[i] == doctest::Approx(norms[i + 3]).epsilon(1e-4));
    check_close(shared.model.parameters(), alone.model.parameters());

    SingleModel uneven(1), even(0);
    for (SingleModel* run : {&uneven, &even}) {
      run->step(0);
      run->accelerator.free_memory();
      run->accelerator.join_uneven_inputs(run->model, [&] {
        for (int i = 1; i < (run->accelerator.is_main_process() ? 4 : 2); ++i) run->step(i);
      });
    }
    check_same_bits(uneven.model.parameters(), even.model.parameters());
  });
}

TEST_CASE("an optimizer's handle goes on sharing with a model that is prepared anew") {
  run_ranks(2, [](comm::Group&) {
    for (int64_t zero_stage : {1, 2}) {
      SingleModel shared(zero_stage), alone(0);
      for (SingleModel* run : {&shared, &alone}) {
        run->step(0);
        run->accelerator.free_memory();
        run->model = run->accelerator.prepare(run->net);
        run->optimizer = run->accelerator.prepare(*run->optimizer);
        for (int i = 1; i < 4; ++i) run->step(i);
      }
      CHECK(shared.optimizer->is_sharded());
      check_same_bits(shared.model.parameters(), alone.model.parameters());
    }
  });
}

TEST_CASE("an optimizer that free_memory has released may end before others are prepared") {
  run_ranks(2, [](comm::Group&) {
    for (std::optional<int64_t> zero_stage : {std::optional<int64_t>(), std::optional<int64_t>(1)}) {
      Accelerator accelerator({.zero_stage = zero_stage});
      for (int fold = 0; fold < 3; ++fold) {
        auto net = make_layers(fold);
        Fenced adamw(net->parameters());
        auto [model, optimizer] = accelerator.prepare(net, *adamw);
        CHECK(optimizer.is_sharded() == zero_stage.has_value());
        accelerator.backward(model(noise(accelerator, fold)).square().mean());
        optimizer.step();
        accelerator.free_memory();
      }
      if (zero_stage) accelerator.end_training();
    }
  });
}

}  // namespace accelerate::tests
