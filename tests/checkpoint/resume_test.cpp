// A run that was stopped and goes on from its checkpoint, compared with one that was not.

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>

#include "tests/checkpoint/training_run.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {
namespace {

/// Stops a run after `num_steps`, goes on in a new one with other weights and random numbers, and returns that one.
std::unique_ptr<TrainingRun> resumed(const RunOptions& options, int64_t num_steps,
                                     const std::filesystem::path& directory, const SaveStateOptions& how = {}) {
  {
    TrainingRun first(options);
    first.train_steps(num_steps);
    first.accelerator.save_state(directory, how);
  }
  auto other = options;
  other.seed += 77;
  auto second = std::make_unique<TrainingRun>(other);
  second->accelerator.load_state(directory);
  second->train();
  return second;
}

std::vector<double> from(const std::vector<double>& losses, int64_t start) {
  return {losses.begin() + start, losses.end()};
}

const std::vector<RunOptions> kKinds = {
    {},
    {.use_seedable_sampler = true},
    {.accumulation_steps = 3},  // windows end inside of epochs, and the last of an epoch is short
    {.mixed_precision = MixedPrecision::Fp16},
};

}  // namespace

TEST_CASE("a run that is stopped after any step goes on with the losses of one that was not, to the bit") {
  for (const auto& options : kKinds) {
    CAPTURE(options.accumulation_steps);
    CAPTURE(options.use_seedable_sampler);
    TrainingRun whole(options);
    whole.train();
    REQUIRE(whole.losses.size() == 10);
    for (int64_t stop = 0; stop <= 10; ++stop) {
      CAPTURE(stop);
      TemporaryDirectory directory;
      auto run = resumed(options, stop, directory.path() / "saved");
      CHECK(run->losses == from(whole.losses, stop));
      CHECK(torch::equal(run->net->parameters().back(), whole.net->parameters().back()));
    }
  }
}

TEST_CASE("a stopped run of two ranks, each with its own random numbers, resumes to the bit") {
  for (const auto& options : kKinds) {
    CAPTURE(options.accumulation_steps);
    CAPTURE(options.use_seedable_sampler);
    TemporaryDirectory directory;
    run_ranks(2, [&](comm::Group&) {
      TrainingRun whole(options);
      whole.train();
      REQUIRE(whole.losses.size() == 6);
      for (int64_t stop : {0, 1, 2, 3, 4, 6}) {
        CAPTURE(stop);
        auto run = resumed(options, stop, directory.path() / std::to_string(stop));
        CHECK(run->losses == from(whole.losses, stop));
        CHECK(torch::equal(run->net->parameters().back(), whole.net->parameters().back()));
      }
    });
  }
}

TEST_CASE("of checkpoints that are loaded one after the other the last one counts, be it inside of an epoch or not") {
  for (const auto& options : kKinds) {
    CAPTURE(options.use_seedable_sampler);
    TemporaryDirectory directory;
    const auto saved_after = [&](int64_t steps) { return directory.path() / std::to_string(steps); };
    TrainingRun whole(options);
    int64_t steps = 0;
    whole.accelerator.save_state(saved_after(0));
    whole.train([&] {
      whole.accelerator.save_state(saved_after(++steps));
      return true;
    });
    for (auto [first, last] : {std::pair{2, 5}, {2, 0}, {5, 2}, {7, 3}}) {
      CAPTURE(first);
      CAPTURE(last);
      TrainingRun run(options);
      run.accelerator.load_state(saved_after(first));
      run.accelerator.load_state(saved_after(last));
      run.train();
      CHECK(run.losses == from(whole.losses, last));
    }
  }
}

TEST_CASE("a stopped run whose data set and dropout draw from the same generator resumes to the bit") {
  struct Noisy {
    at::Tensor get(int64_t index) const { return torch::randn({2}) + index; }
    int64_t size() const { return 10; }
  };
  struct NoisyRun {
    explicit NoisyRun(uint64_t seed) : batches(seeded_batches(seed)) {}
    static DataLoader<at::Tensor> seeded_batches(uint64_t seed) {
      set_seed(seed, {.device_specific = true});
      return DataLoader(Noisy(), {.batch_size = 2, .shuffle = true});
    }
    std::vector<double> losses_of(int64_t num_steps) {
      std::vector<double> losses;
      for (int64_t epoch = loader.iteration(); epoch < 2; ++epoch) {
        for (auto& rows : loader) {
          losses.push_back(torch::dropout(rows, 0.5, true).sum().item<double>());
          if (std::ssize(losses) == num_steps) return losses;
        }
      }
      return losses;
    }
    Accelerator accelerator{{.cpu = true, .rng_types = {"torch", "generator"}}};
    DataLoader<at::Tensor> batches;
    data::PreparedDataLoader<at::Tensor> loader = accelerator.prepare(batches);
  };
  for (int world_size : {1, 2}) {
    TemporaryDirectory directory;
    run_ranks(world_size, [&](comm::Group&) {
      const auto whole = NoisyRun(1).losses_of(100);
      REQUIRE(whole.size() == (world_size == 1 ? 10 : 6));
      for (int64_t stop = 1; stop <= std::ssize(whole); ++stop) {
        CAPTURE(stop);
        const auto saved = directory.path() / std::to_string(stop);
        NoisyRun first(1);
        first.losses_of(stop);
        first.accelerator.save_state(saved);
        NoisyRun second(2);
        for (int round = 0; round < 2; ++round) {
          second.accelerator.load_state(saved);
          second.accelerator.save_state(saved);  // which is the same before the first batch
          CHECK(second.losses_of(100) == from(whole, stop));
        }
      }
    });
  }
}

TEST_CASE("a checkpoint that is saved in the background is the one of the moment it was asked for") {
  TemporaryDirectory directory;
  run_ranks(2, [&](comm::Group&) {
    TrainingRun whole;
    whole.train();
    TrainingRun first;
    int64_t steps = 0;
    first.train([&] {  // each copy in the memory of the one before
      first.accelerator.save_state(directory.path() / std::to_string(++steps), {.async = true});
      return steps < 4;
    });
    for (int64_t step : {4, 2, 3}) {
      CAPTURE(step);
      first.accelerator.load_state(directory.path() / std::to_string(step));  // waits for it
      first.losses.clear();
      first.train();
      CHECK(first.losses == from(whole.losses, step));
    }
  });
}

TEST_CASE("a job that is killed in the middle of an epoch goes on as if it had not been, from its newest checkpoint") {
  for (int world_size : {1, 2}) {
    for (bool async : {false, true}) {
      CAPTURE(world_size);
      CAPTURE(async);
      TemporaryDirectory directory;
      const RunOptions options{.accumulation_steps = 2,
                               .project = {.project_dir = directory.path(), .automatic_checkpoint_naming = true}};
      CHECK_THROWS_AS(run_ranks(world_size,
                                [&](comm::Group& group) {
                                  TrainingRun run(options);
                                  run.train([&] {
                                    if (run.losses.size() == 4 && group.rank() == world_size - 1) raise(SIGKILL);
                                    run.accelerator.save_state({.async = async});
                                    return true;
                                  });
                                }),
                      Error);
      run_ranks(world_size, [&](comm::Group&) {
        TrainingRun whole({.accumulation_steps = 2});
        whole.train();
        auto other = options;
        other.seed = 99;
        TrainingRun run(other);
        run.accelerator.load_state();
        run.train();
        // In the background the last one may have been half written.
        CHECK(whole.losses.size() - run.losses.size() >= (async ? 2 : 3));
        CHECK(run.losses == from(whole.losses, whole.losses.size() - run.losses.size()));
      });
    }
  }
}

TEST_CASE("in a job of another size no sample is left out, and the order is the saved one's") {
  const RunOptions options{.num_samples = 24, .batch_size = 2, .num_epochs = 1};
  for (auto [saved_size, new_size, stop] : {std::tuple{1, 2, 4}, {2, 1, 2}, {2, 3, 3}, {3, 2, 1}}) {
    CAPTURE(saved_size);
    CAPTURE(new_size);
    TemporaryDirectory directory;
    auto shared = (directory.path() / "saved").string();
    run_ranks(saved_size, [&](comm::Group& group) {
      TrainingRun run(options);
      run.train_steps(stop);
      run.accelerator.save_state(shared);
      auto seen = comm::gather_object(run.samples, group);
      if (group.rank() != 0) return;
      std::string text;
      for (auto sample : seen) text += std::to_string(sample) + " ";
      directory.write("seen", text);
    });
    run_ranks(new_size, [&](comm::Group& group) {
      TrainingRun run(options);
      run.accelerator.load_state(shared);
      run.train();
      auto all = comm::gather_object(run.samples, group);
      std::istringstream text(directory.read("seen"));
      const size_t num_new = all.size();
      for (int64_t sample = 0; text >> sample;) all.push_back(sample);
      // Batches that do not divide among the ranks come again.
      CHECK(num_new == 24 - (saved_size * stop / new_size * new_size) * 2);
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      CHECK(all.size() == 24);
    });
  }
}

TEST_CASE("gradients that wait for the end of their window count in a job of another size as they would have") {
  // Two steps of two ranks on four samples each are one step of one rank on all, if the samples are the same.
  struct LinearRun {
    explicit LinearRun(int64_t num_processes)
        : batches(TensorDataset(torch::arange(16, torch::kFloat).reshape({8, 2})), {.batch_size = 4 / num_processes}),
          loader(accelerator.prepare(batches)) {
      torch::NoGradGuard no_grad;
      net->weight.fill_(1);
    }
    /// Returns whether there was another batch.
    void steps(int64_t count) {
      for (auto& rows : loader) {
        auto accumulating = accelerator.accumulate(model);
        accelerator.backward(model(rows).square().mean());
        optimizer.step();
        optimizer.zero_grad();
        if (--count == 0) return;
      }
    }
    Accelerator accelerator{{.gradient_accumulation_steps = 2, .cpu = true}};
    DataLoader<at::Tensor> batches;
    data::PreparedDataLoader<at::Tensor> loader;
    torch::nn::Linear net{torch::nn::LinearOptions(2, 1).bias(false)};
    torch::optim::SGD sgd{net->parameters(), 0.001};
    Model<torch::nn::LinearImpl> model = accelerator.prepare(net);
    Optimizer optimizer = accelerator.prepare(sgd);
  };
  LinearRun whole(1);
  whole.steps(2);
  for (auto [saved_size, new_size] : {std::pair{2, 1}, {1, 2}}) {
    TemporaryDirectory directory;
    run_ranks(saved_size, [&, size = saved_size](comm::Group&) {
      LinearRun run(size);
      run.steps(1);
      CHECK_FALSE(run.accelerator.sync_gradients());
      run.accelerator.save_state(directory.path() / "saved");
    });
    run_ranks(new_size, [&, size = new_size](comm::Group&) {
      LinearRun run(size);
      run.accelerator.load_state(directory.path() / "saved");
      run.steps(1);
      CHECK(torch::allclose(run.net->weight, whole.net->weight, 1e-6, 1e-7));
    });
  }
}

TEST_CASE("a window whose batches are weighted by items continues on as many ranks, and on more or fewer") {
  // The gradient is the mean of the inputs of three steps, which ranks have different numbers of.
  struct ItemRun {
    void step(const at::Tensor& inputs) {
      auto accumulating = accelerator.accumulate(model);
      auto loss = (model(torch::ones({1, 1})) * inputs).sum();
      accelerator.backward(loss, {.num_items = inputs.numel()});
    }
    Accelerator accelerator{{.gradient_accumulation_steps = 3, .cpu = true}};
    torch::nn::Linear net{torch::nn::LinearOptions(1, 1).bias(false)};
    Model<torch::nn::LinearImpl> model = accelerator.prepare(net);
  };
  /// The inputs of a rank: its share of 1, 2, ..., 12, rank 0 has more.
  auto inputs_of = [](int64_t step, int rank, int world_size) {
    auto all = torch::arange(4 * step + 1, 4 * step + 5, torch::kFloat);
    if (world_size == 1) return all;
    return rank == 0 ? all.narrow(0, 0, 5 - world_size) : all.narrow(0, 4 - world_size + rank, 1);
  };
  for (auto [saved_size, new_size] : {std::pair{1, 1}, {2, 2}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}) {
    CAPTURE(saved_size);
    CAPTURE(new_size);
    for (int64_t num_saved : {1, 2}) {
      TemporaryDirectory directory;
      run_ranks(saved_size, [&, size = saved_size](comm::Group& group) {
        ItemRun run;
        for (int64_t step = 0; step < num_saved; ++step) run.step(inputs_of(step, group.rank(), size));
        run.accelerator.save_state(directory.path() / "saved");
      });
      run_ranks(new_size, [&, size = new_size](comm::Group& group) {
        ItemRun run;
        run.accelerator.load_state(directory.path() / "saved");
        for (int64_t step = num_saved; step < 3; ++step) run.step(inputs_of(step, group.rank(), size));
        CHECK(run.accelerator.sync_gradients());
        CHECK(run.net->weight.grad().item<double>() == doctest::Approx(6.5));
      });
    }
  }
}

TEST_CASE("the waiting gradient of a weight with two names is saved once") {
  struct Tied : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return (first * x + second * x).sum(); }
    torch::Tensor first = register_parameter("first", torch::zeros({1}));
    torch::Tensor second = register_parameter("second", first);
  };
  TemporaryDirectory directory;
  Accelerator accelerator({.gradient_accumulation_steps = 2, .cpu = true});
  auto net = std::make_shared<Tied>();
  auto model = accelerator.prepare(net);
  {
    auto accumulating = accelerator.accumulate(model);
    accelerator.backward(model(torch::ones({1})));
  }
  CHECK(net->first.grad().item<float>() == 1);
  accelerator.save_state(directory.path() / "saved");
  accelerator.load_state(directory.path() / "saved");
  CHECK(net->first.grad().item<float>() == 1);
}

TEST_CASE("sparse gradients that wait for the end of their window are saved as well") {
  struct SparseRun {
    void step(int64_t row) {
      auto accumulating = accelerator.accumulate(model);
      accelerator.backward(model(torch::tensor({row, int64_t{0}})).sum());
      optimizer.step();
      optimizer.zero_grad();
    }
    torch::nn::Embedding zeroed_table() const {
      torch::nn::Embedding table(torch::nn::EmbeddingOptions(4, 2).sparse(true));
      torch::nn::init::zeros_(table->weight);
      return table;
    }
    Accelerator accelerator{{.gradient_accumulation_steps = 3, .cpu = true}};
    torch::nn::Embedding table = zeroed_table();
    torch::optim::SGD sgd{table->parameters(), 0.1};
    Model<torch::nn::EmbeddingImpl> model = accelerator.prepare(table);
    Optimizer optimizer = accelerator.prepare(sgd);
  };
  for (bool async : {false, true}) {
    TemporaryDirectory directory;
    run_ranks(2, [&](comm::Group& group) {
      SparseRun whole, resumed;
      for (int64_t row : {1, 2}) whole.step(row + group.rank());
      whole.accelerator.save_state(directory.path() / "saved", {.async = async});
      REQUIRE(whole.accelerator.has_checkpoint(directory.path() / "saved"));  // waits for it
      resumed.accelerator.load_state(directory.path() / "saved");
      REQUIRE(resumed.table->weight.grad().is_sparse());
      for (auto* run : {&whole, &resumed}) run->step(3);
      CHECK(torch::equal(resumed.table->weight, whole.table->weight));
      CHECK(whole.table->weight.detach()[3].abs().sum().item<float>() > 0);
    });
    run_ranks(1, [&](comm::Group&) {  // the gradients of both
      SparseRun alone;
      alone.accelerator.load_state(directory.path() / "saved");
      const auto waiting = alone.table->weight.grad().to_dense().select(1, 0);
      CHECK(torch::allclose(waiting * 3, torch::tensor({2.0f, 0.5f, 1.0f, 0.5f})));
    });
  }
}

}  // namespace accelerate::tests
