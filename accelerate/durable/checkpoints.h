#pragma once

// Numbered checkpoints below one directory: checkpoint_0, checkpoint_1, ..., as Python's Accelerate names them.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "accelerate/durable/stage.h"
#include "accelerate/durable/workplace.h"

namespace accelerate::durable {

struct NumberedCheckpoint {
  int64_t number = 0;
  std::filesystem::path path = {};
};

/// "checkpoint_12" for 12.
std::string checkpoint_name(int64_t number);

/// The checkpoints below a directory, complete or not, in the order of their numbers. Empty when there is no such
/// directory.
std::vector<NumberedCheckpoint> list_checkpoints(const std::filesystem::path& directory);

/// The complete one with the highest number up to `at_most`, if there is one. Later ones that are not complete get a
/// warning each, with the reason. Throws UnknownVersion where another release has saved a later one: to go on from an
/// older one, or from nothing, would be to lose it.
std::optional<NumberedCheckpoint> newest_checkpoint(const std::filesystem::path& directory,
                                                    int64_t at_most = std::numeric_limits<int64_t>::max());

/// One more than the highest number that a checkpoint below `directory` has, complete or not.
int64_t next_number(const std::filesystem::path& directory);

/// The directory as the one job sees it that saves to it.
class CheckpointDirectory {
 public:
  /// Makes the directory, holds its lock as long as the object lives, and tidies what a job that died has left. Throws
  /// Error naming process and host of another job that has it.
  explicit CheckpointDirectory(const std::filesystem::path& directory);

  /// The stage of a new checkpoint. Throws Error when there is one of this number.
  Stage stage(int64_t number) const;

  /// Removes the checkpoints with the lowest numbers until `total_limit` complete ones are left; what is not complete
  /// is neither counted nor removed. The limit is at least 1, so that one is always there. Returns how many went.
  int64_t prune(int64_t total_limit) const;

 private:
  std::filesystem::path directory_;
  std::shared_ptr<Workplace> workplace_;
};

}  // namespace accelerate::durable
