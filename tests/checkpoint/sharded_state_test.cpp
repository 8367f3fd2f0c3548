// Checkpoints of optimizers whose state the ranks divide among them: the folder does not tell.

#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "tests/checkpoint/training_run.h"
#include "tests/support/failure_of.h"
#include "tests/support/forbid_call.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {
namespace {

/// Layers that are large enough to be sharded, and sizes that do not come out even.
RunOptions wide(int64_t zero_stage, int64_t accumulation_steps = 1) {
  return {.accumulation_steps = accumulation_steps, .num_hidden = 5461, .zero_stage = zero_stage};
}

/// Through shared memory ranks keep the state once, over gloo each keeps that of its share.
void talk_through(const std::string& backend) {
  comm::PartialState::reset();
  comm::PartialState state({.backend = backend});
}

/// Whether two values in the form of a state_dict are the same to the bit.
void check_same_state(const TorchValue& left, const TorchValue& right) {
  const auto& states = left.at("state").entries();
  REQUIRE(states.size() == right.at("state").entries().size());
  REQUIRE_FALSE(states.empty());
  for (const auto& [number, state] : states) {
    for (const auto& [key, value] : state.entries()) {
      CAPTURE(number.integer());
      CAPTURE(key.text());
      const auto& other = right.at("state").at(number.integer()).at(key.text());
      CHECK(torch::equal(value.tensor(), other.tensor()));
    }
  }
}

}  // namespace

TEST_CASE("what was saved with a sharded optimizer goes on without, and the other way round, to the bit") {
  struct Case {
    int64_t saved, loaded, accumulation_steps, num_steps;  // how it is saved, and after how many steps
  };
  for (const auto& [saved, loaded, accumulation_steps, num_steps] :
       std::vector<Case>{{1, 0, 1, 2},
                         {0, 1, 1, 2},
                         {1, 1, 1, 2},
                         {2, 0, 1, 2},
                         {0, 2, 1, 2},
                         // inside of a window of accumulation, whose gradients wait
                         {1, 1, 2, 1},
                         {2, 2, 2, 1},
                         {1, 0, 2, 4},
                         {2, 0, 2, 4},
                         {0, 2, 2, 1}}) {
    CAPTURE(saved);
    CAPTURE(loaded);
    CAPTURE(accumulation_steps);
    for (const auto& [backend, async] : {std::pair{"shm", false}, {"shm", true}, {"gloo", false}, {"gloo", true}}) {
      if (std::max(saved, loaded) == 2 && backend == std::string("gloo")) continue;  // which has no stage 2
      TemporaryDirectory directory;
      run_ranks(2, [&](comm::Group&) {
        talk_through(backend);
        TrainingRun whole(wide(0, accumulation_steps));
        whole.train();
        {
          TrainingRun first(wide(saved, accumulation_steps));
          CHECK(first.optimizer.is_sharded() == (saved > 0));
          first.train_steps(num_steps);
          CHECK(first.accelerator.sync_gradients() == (accumulation_steps == 1));
          first.accelerator.save_state(directory.path() / "saved", {.async = async});
          first.train_steps(1);  // what is saved is the state of the moment
        }
        TrainingRun second(wide(loaded, accumulation_steps));
        second.accelerator.load_state(directory.path() / "saved");
        second.train();
        CHECK(second.losses == std::vector(whole.losses.begin() + num_steps, whole.losses.end()));
        CHECK(torch::equal(second.net->parameters().front(), whole.net->parameters().front()));
      });
    }
  }
}

TEST_CASE("a rank that fails in a hook leaves no other alone in the gathering of the state") {
  TemporaryDirectory directory;
  run_ranks(2, [&](comm::Group& group) {
    talk_through("gloo");
    TrainingRun run(wide(1));
    run.train_steps(1);
    auto hook = run.accelerator.register_save_state_pre_hook(
        [&](checkpoint::Models&, std::vector<StateDict>&, const std::filesystem::path&) {
          if (group.rank() == 1) fail("no");
        });
    CHECK(failure_of([&] { run.accelerator.save_state(directory.path() / "saved"); }) == "rank 1: no");
    hook.remove();
    run.accelerator.save_state(directory.path() / "saved");
    run.accelerator.load_state(directory.path() / "saved");
  });
}

TEST_CASE("a rank that cannot read its files leaves no other alone in the loading of common state, and says why") {
  // Loaded just before models and optimizers are.
  struct Forbidding {
    bool forbids = false;
    TorchValue state_dict() const { return TorchValue::dict({}); }
    void load_state_dict(const TorchValue&) const {
      if (forbids) forbid_call(SYS_pread64);
    }
  };
  TemporaryDirectory directory;
  run_ranks(2, [&](comm::Group& group) {
    talk_through("shm");
    TrainingRun run(wide(1));
    Forbidding object;
    run.accelerator.register_for_checkpointing(object);
    run.train_steps(1);
    run.accelerator.save_state(directory.path() / "saved");
    TrainingRun fresh(wide(1));  // whose state is not there yet: ranks make it together
    fresh.accelerator.register_for_checkpointing(object);
    object.forbids = group.rank() == 1;
    for (auto* each : {&fresh, &run}) {
      const auto begin = std::chrono::steady_clock::now();
      const auto error = failure_of([&] { each->accelerator.load_state(directory.path() / "saved"); });
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
      CHECK_MESSAGE(error.starts_with("rank 1: "), error);
      CHECK_MESSAGE(error.find("cannot be read: Operation not permitted") != std::string::npos, error);
      for (const auto& other : group.all_gather_bytes(error)) CHECK(other == error);
    }
  });
}

TEST_CASE("the state of any number of ranks is loaded by any other number") {
  TemporaryDirectory directory;
  auto train_and_save = [&](comm::Group& group) {
    talk_through(group.size() == 2 ? "shm" : "gloo");
    TrainingRun run(wide(1));
    run.train_steps(2);
    run.accelerator.save_state(directory.path() / std::to_string(group.size()));
  };
  run_ranks(2, train_and_save);
  run_ranks(3, train_and_save);
  for (int saved : {2, 3}) {
    const auto path = directory.path() / std::to_string(saved);
    const auto expected = tensors::load_torch_file(path / "optimizer.bin");
    for (int num_processes : {1, 2, 4}) {
      run_ranks(num_processes, [&](comm::Group&) {
        if (num_processes > 1) talk_through(num_processes == 2 ? "gloo" : "shm");
        TrainingRun run(wide(1));
        run.accelerator.load_state(path);
        CHECK(run.optimizer.is_sharded() == (num_processes > 1));
        check_same_state(run.optimizer.state_dict(), expected);
        run.train_steps(1);
      });
    }
  }
}

}  // namespace accelerate::tests
