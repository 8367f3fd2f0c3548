// Checkpoints that Python's Accelerate has saved are gone on with here, and the other way round. The training is that
// of python_run.py, which runs the real packages.

#include <doctest/doctest.h>

#include "accelerate/accelerator.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/operations.h"
#include "accelerate/train/lr_scheduler.h"
#include "tests/parity/recorded.h"
#include "tests/support/hang_limit.h"
#include "tests/support/program.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

using tensors::TorchValue;

constexpr int64_t kSamples = 32, kBatchSize = 4;
constexpr uint64_t kSeed = 7;
constexpr double kMetric = 1;  // never better, so that a plateau goes on from epoch to epoch

struct Kind {
  const char* name;
  bool adamw = true;
  bool fused = false;
  bool safe_serialization = true;
  bool plateau = false;  // the scheduler follows a metric
};
constexpr Kind kKinds[] = {{.name = "adamw"},
                           {.name = "adamw_fused", .fused = true},
                           {.name = "sgd", .adamw = false},
                           {.name = "adamw_bin", .safe_serialization = false},
                           {.name = "plateau", .adamw = false, .plateau = true}};

struct Counter {
  int64_t count = 0;

  TorchValue state_dict() const { return TorchValue::dict({{"count", count}, {"name", "counter"}, {"scale", 0.5}}); }
  void load_state_dict(const TorchValue& state) { count = state.at("count").integer(); }
};

torch::nn::Sequential make_net(uint64_t seed) {
  set_seed(seed);
  torch::nn::Sequential net;
  net->push_back(torch::nn::Linear(4, 8));
  net->push_back(torch::nn::BatchNorm1d(8));
  net->push_back(torch::nn::ReLU());
  net->push_back(torch::nn::Dropout(0.2));
  net->push_back(torch::nn::Linear(8, 3));
  return net;
}

/// The class Run of python_run.py.
struct Run {
  Run(const Kind& kind, uint64_t seed, bool shuffle, MixedPrecision precision = MixedPrecision::No)
      : accelerator({.mixed_precision = precision, .cpu = true, .fused_optimizers = kind.fused}), net(make_net(seed)) {
    at::set_num_threads(1);
    if (kind.adamw) {
      torch_optimizer = std::make_unique<torch::optim::AdamW>(net->parameters(), torch::optim::AdamWOptions(0.05));
      prepare(kind, shuffle,
              LambdaLR(*torch_optimizer, [](int64_t step) { return 1.0 / (1.0 + static_cast<double>(step)); }));
    } else {
      torch_optimizer = std::make_unique<torch::optim::SGD>(
          net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-3));
      if (kind.plateau) {
        using Plateau = torch::optim::ReduceLROnPlateauScheduler;
        prepare(kind, shuffle, Plateau(*torch_optimizer, Plateau::min, /*factor=*/0.5, /*patience=*/2));
      } else {
        prepare(kind, shuffle, torch::optim::StepLR(*torch_optimizer, 5, 0.5));
      }
    }
    counter.count = static_cast<int64_t>(seed);
    accelerator.register_for_checkpointing(counter);
    set_seed(seed, {.device_specific = true});
  }

  template <class LRScheduler>
  void prepare(const Kind& kind, bool shuffle, LRScheduler lr_scheduler) {
    auto rows = torch::sin(torch::arange(kSamples * 4, torch::kFloat)).reshape({-1, 4});
    DataLoader batches(TensorDataset(rows, torch::arange(kSamples)), {.batch_size = kBatchSize, .shuffle = shuffle});
    auto [loader, model, optimizer, scheduler] =
        accelerator.prepare(batches, net, *torch_optimizer, std::move(lr_scheduler));
    train_epoch = [this, loader, model, optimizer, scheduler, follows_metric = kind.plateau]() mutable {
      std::vector<double> losses;
      model->train();
      for (auto& [inputs, numbers] : loader) {
        auto loss = torch::cross_entropy_loss(model(inputs), numbers % 3);
        accelerator.backward(loss);
        optimizer.step();
        if (follows_metric) {
          scheduler.step(kMetric);
        } else {
          scheduler.step();
        }
        optimizer.zero_grad();
        losses.push_back(loss.template item<double>());
      }
      return losses;
    };
  }

  double learning_rate() const { return accelerator.optimizers().front().learning_rate(); }

  Accelerator accelerator;
  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::Optimizer> torch_optimizer;
  Counter counter;
  std::function<std::vector<double>()> train_epoch;
};

std::string folder(const TemporaryDirectory& directory, int world_size, const Kind& kind) {
  return (directory.path() / (std::to_string(world_size) + "_" + kind.name)).string();
}

/// All of a scaler's state, under the keys of Python's.
json state_of(const precision::GradScaler& scaler) {
  const auto state = scaler.state();
  return {{"scale", state.scale},
          {"growth_factor", state.growth_factor},
          {"backoff_factor", state.backoff_factor},
          {"growth_interval", state.growth_interval},
          {"_growth_tracker", state.growth_tracker}};
}

/// What python_run.py tells.
json python(const std::string& command, const TemporaryDirectory& directory) {
  const auto answer = (directory.path() / "answer.json").string();
  Program program({ACCELERATE_ORACLE_PYTHON, ACCELERATE_SOURCE_DIR "/tests/interop/python_run.py", command,
                   directory.path().string(), answer});
  const int exit_code = program.wait(tests::hang_limit(std::chrono::minutes(8)));
  REQUIRE_MESSAGE(exit_code == 0, program.output() << program.errors());
  return json::parse(directory.read("answer.json"));
}

}  // namespace

TEST_CASE("a folder of Python's is gone on with as Python goes on, to the bit, on 1 and 2 ranks") {
  TemporaryDirectory directory;
  const auto answer = python("write", directory);
  const auto& runs = answer.at("runs");
  for (int world_size : {1, 2}) {
    for (const auto& kind : kKinds) {
      CAPTURE(world_size);
      CAPTURE(kind.name);
      const auto wanted = runs.at(std::to_string(world_size) + "_" + kind.name);
      run_ranks(world_size, [&](comm::Group& group) {
        Run run(kind, kSeed + 1, /*shuffle=*/true);
        run.accelerator.load_state(folder(directory, world_size, kind));
        const auto& python_run = wanted.at(group.rank());
        CHECK(json(run.train_epoch()) == python_run.at("losses"));
        CHECK(run.counter.count == python_run.at("count"));
        CHECK(run.learning_rate() == python_run.at("learning_rate"));
      });
    }
  }
  Run run(kKinds[0], kSeed + 1, /*shuffle=*/true);
  run.accelerator.load_state(folder(directory, 1, kKinds[0]));
  run.accelerator.save_model(run.net, directory.path() / "our_model", {.max_shard_size = "110"});
  size_t num_files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder(directory, 1, kKinds[0]) + "_model")) {
    const auto name = file.path().filename().string();
    CAPTURE(name);
    CHECK(directory.read("our_model/" + name) == directory.read("1_adamw_model/" + name));
    ++num_files;
  }
  CHECK(num_files > 4);

  Run half(kKinds[0], kSeed + 1, /*shuffle=*/true, MixedPrecision::Fp16);
  half.accelerator.load_state(folder(directory, 1, kKinds[0]));
  CHECK(state_of(*half.accelerator.scaler()) == answer.at("scaler"));
}

TEST_CASE("Python goes on with a folder of ours as we go on, to the bit, on 1 and 2 ranks") {
  TemporaryDirectory directory, ours;
  for (int world_size : {1, 2}) {
    for (const auto& kind : kKinds) {
      const auto saved = folder(directory, world_size, kind);
      run_ranks(world_size, [&](comm::Group& group) {
        {
          Run run(kind, kSeed, /*shuffle=*/false);
          run.train_epoch();
          run.accelerator.save_state(saved, {.safe_serialization = kind.safe_serialization});
        }
        Run run(kind, kSeed + 1, /*shuffle=*/false);
        run.accelerator.load_state(saved);
        json told = {{"losses", run.train_epoch()}, {"learning_rate", run.learning_rate()}};
        ours.write(std::filesystem::path(saved).filename().string() + std::to_string(group.rank()), told.dump());
      });
    }
  }
  json scaler;
  {
    Run half({.name = "half"}, kSeed, /*shuffle=*/false, MixedPrecision::Fp16);
    half.train_epoch();
    scaler = state_of(*half.accelerator.scaler());
    CHECK(scaler.at("_growth_tracker") > 0);
    half.accelerator.save_state(directory.path() / "half");
    std::filesystem::copy(directory.path() / "half" / "scaler.pt", folder(directory, 1, kKinds[0]));
  }

  const auto answer = python("resume", directory);
  for (int world_size : {1, 2}) {
    for (const auto& kind : kKinds) {
      for (int rank = 0; rank < world_size; ++rank) {
        const auto name = std::to_string(world_size) + "_" + kind.name;
        CAPTURE(name);
        CAPTURE(rank);
        const auto& python_run = answer.at("runs").at(name).at(rank);
        const auto own = json::parse(ours.read(name + std::to_string(rank)));
        CHECK(python_run.at("losses") == own.at("losses"));
        CHECK(python_run.at("learning_rate") == own.at("learning_rate"));
        CHECK(python_run.at("count") == kSeed);
        CHECK(python_run.at("draws") == answer.at("first_draws").at(rank));
      }
    }
  }
  CHECK(answer.at("runs").at("1_adamw").at(0).at("scaler") == scaler);
}

}  // namespace accelerate::tests
