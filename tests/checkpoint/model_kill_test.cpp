// save_model, killed at each of its calls: the directory has the model from before or the new one.

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/checkpoint/model_files.h"
#include "accelerate/ranks/fork_ranks.h"
#include "accelerate/train/state_dict.h"
#include "tests/support/failing_calls.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

namespace fs = std::filesystem;

/// All of it says which model it is.
torch::nn::Sequential model_of(double number) {
  torch::nn::Sequential net(torch::nn::Linear(8, 8), torch::nn::Linear(8, 8), torch::nn::Linear(8, 8));
  torch::NoGradGuard no_grad;
  for (auto& weights : net->parameters()) weights.fill_(number);
  return net;
}

void save(double number, const fs::path& directory, const SaveModelOptions& options) {
  checkpoint::save_model_files(train::state_dict_of(*model_of(number)), directory, options);
}

/// The number of the model in a directory. Throws Error when it cannot be loaded, or is made of two.
double loaded(const fs::path& directory) {
  auto net = model_of(0);
  load_checkpoint_in_model(net, directory, {.strict = true});
  const auto number = net->parameters().front().view(-1)[0].item<double>();
  for (const auto& weights : net->parameters()) {
    if (!(weights == number).all().item<bool>()) fail(directory.string(), ": is made of two models");
  }
  return number;
}

/// Saves in a process that is killed at that call. False when there are fewer.
bool is_killed_at(int call, const fs::path& directory, const SaveModelOptions& options) {
  try {
    ranks::fork_ranks(1, [&](int) {
      fail_call(call, 0);
      save(2, directory, options);
      return std::string();
    });
  } catch (const ranks::RankError&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("whichever call of save_model is the last one before a kill, the model from before or the new one loads") {
  const SaveModelOptions whole, shards{.max_shard_size = "300"}, torch_file{.safe_serialization = false},
      torch_shards{.max_shard_size = "300", .safe_serialization = false};
  std::vector<std::pair<SaveModelOptions, SaveModelOptions>> changes = {{shards, torch_file}, {shards, whole}};
  if (std::getenv("ACCELERATE_TEST_FULL") != nullptr) {
    changes.insert(
        changes.end(),
        {{shards, torch_shards}, {whole, torch_file}, {whole, shards}, {torch_shards, whole}, {torch_shards, shards}});
  }
  int calls = 0, old_models = 0;
  for (const auto& [before, after] : changes) {
    bool is_killed = true;
    for (int call = 1; is_killed; ++call, ++calls) {
      CAPTURE(call);
      TemporaryDirectory home;
      save(1, home.path() / "model", before);
      is_killed = is_killed_at(call, home.path() / "model", after);
      double number = 0;
      CHECK_NOTHROW(number = loaded(home.path() / "model"));
      CHECK((number == 2 || (number == 1 && is_killed)));
      old_models += number == 1;
    }
  }
  CHECK(old_models > 0);
  CHECK(old_models < calls);
  MESSAGE(calls, " kills, of which ", old_models, " left the model from before");
}

}  // namespace accelerate::tests
