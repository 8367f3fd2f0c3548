// Jobs on machines that share no disk (save_on_each_node): the first rank of each saves for its ranks.

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <set>

#include "accelerate/base/environment.h"
#include "accelerate/ranks/fork_ranks.h"
#include "tests/checkpoint/training_run.h"
#include "tests/support/failure_of.h"
#include "tests/support/hang_limit.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {
namespace {

namespace fs = std::filesystem;

constexpr int kRanksOfMachine = 2;

/// Calls `body(rank)` on four ranks that take themselves for those of two machines.
void run_two_machines(const std::function<void(int rank)>& body) {
  auto play = [&](int rank) {
    set_environment_variable({"LOCAL_RANK", std::to_string(rank % kRanksOfMachine)});
    set_environment_variable({"LOCAL_WORLD_SIZE", std::to_string(kRanksOfMachine)});
    run_rank([&] { body(rank); });
    return std::string();
  };
  ranks::fork_ranks(2 * kRanksOfMachine, play, {.timeout = tests::hang_limit()});
}

fs::path disk_of_machine(const TemporaryDirectory& home, int machine) {
  return home.path() / ("machine_" + std::to_string(machine));
}

std::set<std::string> files_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

/// Has the second machine fail to commit whatever is saved, when all others have written their files.
auto fail_to_commit(Accelerator& accelerator) {
  return accelerator.register_save_state_pre_hook(
      [rank = accelerator.process_index()](checkpoint::Models&, std::vector<StateDict>&, const fs::path& stage) {
        if (rank == kRanksOfMachine) std::ofstream{stage / "manifest.json"};  // the commit needs this name
      });
}

}  // namespace

TEST_CASE("a run on machines with disks of their own goes on where each of its ranks was, to the bit") {
  TemporaryDirectory home;
  RunOptions options{.accumulation_steps = 2, .num_samples = 48, .project = {.save_on_each_node = true}};
  run_two_machines([&](int rank) {
    TrainingRun whole(options);
    whole.train();
    REQUIRE(whole.losses.size() == 6);
    for (int64_t stop : {1, 2, 4}) {
      CAPTURE(stop);
      const auto saved = disk_of_machine(home, rank / kRanksOfMachine) / std::to_string(stop);
      TrainingRun first(options);
      first.train_steps(stop);
      CHECK(first.accelerator.save_state(saved) == saved);
      auto other = options;
      other.seed = 78;
      TrainingRun second(other);
      second.accelerator.load_state(saved);
      second.train();
      CHECK(second.losses == std::vector(whole.losses.begin() + stop, whole.losses.end()));
    }
  });
  CHECK(files_in(disk_of_machine(home, 1) / "1") ==
        std::set<std::string>{"model.safetensors", "optimizer.bin", "scheduler.bin", "random_states_2.pkl",
                              "random_states_3.pkl", "loop_state_2.bin", "loop_state_3.bin", "manifest.json"});

  // One machine alone has all but the gradients that wait on the other.
  TrainingRun alone(options);
  const auto error = failure_of([&] { alone.accelerator.load_state(disk_of_machine(home, 1) / "1"); });
  CHECK_MESSAGE(error.find("only 2 of their gradients are available") != std::string::npos, error);
  alone.accelerator.load_state(disk_of_machine(home, 1) / "2");

  // The files of all ranks, but one of them is another job's.
  alone.accelerator.save_state(home.path() / "alone");
  const auto mixed = home.path() / "mixed";
  std::filesystem::copy(disk_of_machine(home, 0) / "1", mixed);
  for (const char* name : {"loop_state_2.bin", "loop_state_3.bin"}) {
    std::filesystem::copy_file(disk_of_machine(home, 1) / "1" / name, mixed / name);
  }
  std::filesystem::remove(mixed / "manifest.json");
  alone.accelerator.load_state(mixed);
  std::filesystem::copy_file(home.path() / "alone" / "loop_state_0.bin", mixed / "loop_state_1.bin",
                             std::filesystem::copy_options::overwrite_existing);
  const auto refusal = failure_of([&] { alone.accelerator.load_state(mixed); });
  CHECK_MESSAGE(refusal.find("loop_state_1.bin: belongs to a job of 1 ranks") != std::string::npos, refusal);
}

TEST_CASE("when one machine cannot commit, all go on from the newest checkpoint that every machine has") {
  TemporaryDirectory home;
  run_two_machines([&](int rank) {
    const auto disk = disk_of_machine(home, rank / kRanksOfMachine);
    TrainingRun run(
        {.num_samples = 48,
         .project = {
             .project_dir = disk, .automatic_checkpoint_naming = true, .total_limit = 1, .save_on_each_node = true}});
    run.train_steps(1);
    run.accelerator.save_state();
    run.train_steps(1);
    auto hook = fail_to_commit(run.accelerator);
    const auto error = failure_of([&] { run.accelerator.save_state(); });
    CHECK_MESSAGE(error.find("rank 2: ") == 0, error);
    hook.remove();
    CHECK(files_in(disk / "checkpoints").contains("checkpoint_0"));
    CHECK(files_in(disk / "checkpoints").contains("checkpoint_1") == (rank < kRanksOfMachine));

    CHECK(run.accelerator.has_checkpoint());
    run.accelerator.load_state();
    CHECK(run.loader.state_dict().batches_seen == 1);
    run.accelerator.save_state();
    run.accelerator.wait_for_everyone();
    CHECK(files_in(disk / "checkpoints") == std::set<std::string>{"checkpoint_2"});
  });
}

TEST_CASE("checkpoints of different saves under one name on two machines are refused") {
  TemporaryDirectory home;
  run_two_machines([&](int rank) {
    const auto state = disk_of_machine(home, rank / kRanksOfMachine) / "state";
    TrainingRun run({.project = {.save_on_each_node = true}});
    run.accelerator.save_state(state);
    auto hook = fail_to_commit(run.accelerator);
    CHECK(failure_of([&] { run.accelerator.save_state(state); }) != "");
    const auto error = failure_of([&] { run.accelerator.load_state(state); });
    CHECK_MESSAGE(error.find("the machine of rank 2 has a different checkpoint under this name") != std::string::npos,
                  error);
    hook.remove();
    run.accelerator.save_state(state);
    run.accelerator.load_state(state);
  });
}

}  // namespace accelerate::tests
