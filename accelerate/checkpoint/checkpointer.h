#pragma once

// Saves and loads the state of a job. All ranks take part; a save can run in the background.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "accelerate/checkpoint/python_generators.h"
#include "accelerate/checkpoint/staged_save.h"
#include "accelerate/checkpoint/tensor_copies.h"
#include "accelerate/checkpoint/training_state.h"
#include "accelerate/comm/agreement.h"
#include "accelerate/comm/side_channel.h"
#include "accelerate/durable/checkpoints.h"

namespace accelerate::checkpoint {

/// Where a checkpoint is saved.
struct Destination {
  std::filesystem::path directory = {};
  std::optional<int64_t> number = std::nullopt;       // save to checkpoint_<number> in the directory
  std::optional<int64_t> total_limit = std::nullopt;  // with `number`: keep only this many, the newest
};

/// Functions, called in the order of their registration.
template <class Function>
class Hooks {
 public:
  RemovableHandle add(Function function) {
    const int64_t number = next_number_++;
    functions_->emplace(number, std::move(function));
    return RemovableHandle([number, functions = std::weak_ptr(functions_)] {
      if (auto alive = functions.lock()) alive->erase(number);
    });
  }

  bool empty() const { return functions_->empty(); }

  template <class... Arguments>
  void call(Arguments&&... arguments) const {
    for (const auto& [number, function] : *functions_) function(arguments...);
  }

 private:
  std::shared_ptr<std::map<int64_t, Function>> functions_ = std::make_shared<std::map<int64_t, Function>>();
  int64_t next_number_ = 0;
};

/// One per process. All members except wait() and the hooks are collective. An Error on one rank is thrown on all
/// ranks.
class Checkpointer {
 public:
  /// `leader` is the rank that creates the directories to which this rank writes, see RankAndLeader.
  Checkpointer(comm::Group group, int leader);

  /// Waits for a background save and logs its failure. During stack unwinding it waits 10 s, then gives up on the other
  /// ranks.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Saves `state` and returns the path. A crash at any moment leaves the previous checkpoint or the new one. With
  /// `async` the files are complete after wait(); the next save or load waits first.
  std::filesystem::path save(TrainingState state, const Destination& destination, const SaveStateOptions& options);

  /// Returns the checkpoint with the highest number in `directory` that is complete on all machines, or nothing.
  std::optional<std::filesystem::path> newest(const std::filesystem::path& directory);

  /// Whether `directory` is non-empty on all machines. Its contents may be damaged.
  bool exists(const std::filesystem::path& directory);

  /// Returns one more than the highest checkpoint number in `directory` on any machine.
  int64_t next_number(const std::filesystem::path& directory) const;

  /// Loads the checkpoint in `directory`. Throws Error and changes nothing if it does not fit, is damaged, or is
  /// replaced by another one meanwhile. If a scheduler or registered object rejects its state on one rank, other
  /// schedulers and objects may have changed, but nothing else on any rank.
  void load(TrainingState state, const std::filesystem::path& directory);

  /// Waits for the background save, if any. Throws Error if it failed, the same on all ranks.
  void wait();

  Hooks<SaveStateHook> save_hooks;
  Hooks<LoadStateHook> load_hooks;

 private:
  std::vector<int64_t> from_leaders(const std::function<int64_t()>& work) const;
  durable::Stage make_stage(const Destination& destination);
  std::vector<CheckpointFile> files_of(TrainingState& state, const std::filesystem::path& stage,
                                       const SaveStateOptions& options);
  void prune(const Destination& destination) const;

  comm::Group group_;
  RankAndLeader ranks_;
  comm::Exchange exchange_;
  PythonGenerators python_;
  std::optional<std::pair<std::filesystem::path, durable::CheckpointDirectory>> series_;  // only on leaders
  comm::SideChannel side_channel_;
  TensorCopies copies_;  // written by the background save
  std::future<void> background_;
};

}  // namespace accelerate::checkpoint
