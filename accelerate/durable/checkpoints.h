#pragma once

// Numbered checkpoints below one directory: checkpoint_0, checkpoint_1, ..., as Python's Accelerate names them.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "accelerate/durable/stage.h"
#include "accelerate/durable/staging_directory.h"

namespace accelerate::durable {

struct NumberedCheckpoint {
  int64_t number = 0;
  std::filesystem::path path = {};
};

/// "checkpoint_12" for 12.
std::string checkpoint_name(int64_t number);

/// All checkpoints below a directory, complete or not, sorted by number. Empty if the directory does not exist.
std::vector<NumberedCheckpoint> list_checkpoints(const std::filesystem::path& directory);

/// The complete checkpoint with the highest number up to `at_most`, if any. Warns about each later one that is
/// incomplete, with the reason. Throws UnknownVersion if a later one was saved in another release's format: resuming
/// from an older checkpoint would lose it.
std::optional<NumberedCheckpoint> newest_checkpoint(const std::filesystem::path& directory,
                                                    int64_t at_most = std::numeric_limits<int64_t>::max());

/// The highest number of all checkpoints below `directory`, complete or not, plus one.
int64_t next_number(const std::filesystem::path& directory);

/// A directory of numbered checkpoints that this job saves to.
class CheckpointDirectory {
 public:
  /// Creates the directory, holds its lock for the lifetime of the object, and cleans up after jobs that died. Throws
  /// Error if another job holds the lock; the message names its process and host.
  explicit CheckpointDirectory(const std::filesystem::path& directory);

  /// The stage of a new checkpoint. Throws Error if the number exists already.
  Stage stage(int64_t number) const;

  /// Removes the oldest complete checkpoints until `total_limit` are left. Incomplete ones are neither counted nor
  /// removed. The limit is at least 1. Returns the number of removed checkpoints.
  int64_t prune(int64_t total_limit) const;

 private:
  std::filesystem::path directory_;
  std::shared_ptr<StagingDirectory> staging_;
};

}  // namespace accelerate::durable
