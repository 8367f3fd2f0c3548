#pragma once

// Saving and loading the state of a job: all ranks together, now or in the background.

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "accelerate/checkpoint/agreement.h"
#include "accelerate/checkpoint/hooks.h"
#include "accelerate/checkpoint/python_generators.h"
#include "accelerate/checkpoint/staged_save.h"
#include "accelerate/checkpoint/tensor_copies.h"
#include "accelerate/checkpoint/training_state.h"
#include "accelerate/comm/side_channel.h"
#include "accelerate/durable/checkpoints.h"

namespace accelerate::checkpoint {

struct SaveStateOptions {
  bool safe_serialization = true;  // models as safetensors, else as torch.save does
  bool async = false;              // copy and return; a thread writes and commits. The memory is kept for the next
};

/// Where a checkpoint goes.
struct Destination {
  std::filesystem::path directory = {};
  std::optional<int64_t> number = std::nullopt;       // it becomes checkpoint_<number> below the directory
  std::optional<int64_t> total_limit = std::nullopt;  // then keep that many of those, the newest
};

using SaveStateHook =
    std::function<void(Models& models, std::vector<train::StateDict>& weights, const std::filesystem::path& directory)>;
using LoadStateHook = std::function<void(Models& models, const std::filesystem::path& directory)>;

/// One for each program; all members but wait() and the hooks are collective. An Error on one rank is thrown on all.
class Checkpointer {
 public:
  /// `leader` is the rank that makes the directories this rank writes to: see Place.
  Checkpointer(comm::Group group, int leader);

  /// Waits for a save in the background; if that fails, the log tells. Not for long when an exception is on its way.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Saves `state` and returns where. A crash at any moment leaves what was there before, or the new checkpoint. With
  /// `async` the files are complete after wait(), which the next save and load begin with.
  std::filesystem::path save(TrainingState state, const Destination& destination, const SaveStateOptions& options);

  /// The checkpoint with the highest number below `directory` that is complete on all machines, if there is one.
  std::optional<std::filesystem::path> newest(const std::filesystem::path& directory);

  /// Whether all machines have something in `directory`, be it damaged.
  bool is_there(const std::filesystem::path& directory);

  /// One more than the highest number that a checkpoint below `directory` has on any machine.
  int64_t next_number(const std::filesystem::path& directory) const;

  /// Loads the checkpoint in `directory`. When it does not fit, is damaged, or another one takes its place meanwhile,
  /// nothing of the program changes. Where an object of the user's own refuses its state on one rank, objects and
  /// schedulers may have changed, and nothing else has on any rank.
  void load(TrainingState state, const std::filesystem::path& directory);

  /// Returns when nothing is saved in the background. Throws Error when that has failed; on every rank the same.
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
  Place place_;
  Exchange exchange_;
  PythonGenerators python_;
  std::optional<std::pair<std::filesystem::path, durable::CheckpointDirectory>> series_;  // on ranks that lead
  comm::SideChannel side_channel_;
  TensorCopies copies_;  // that the background writes
  std::future<void> background_;
};

}  // namespace accelerate::checkpoint

namespace accelerate {
using checkpoint::SaveStateOptions;
}
