#pragma once

// One checkpoint on its way to the disk, written by all ranks of a job together.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/append.h"
#include "accelerate/checkpoint/agreement.h"
#include "accelerate/durable/stage.h"

namespace accelerate::checkpoint {

/// One file of a checkpoint, before it is written.
struct CheckpointFile {
  std::string name = {};
  std::function<void(const Append& append)> write = {};
};

/// Which rank makes the directory that this rank writes to: rank 0, or the first rank of each machine where machines
/// share no disk.
struct Place {
  int rank = 0;
  int leader = 0;

  bool leads() const { return rank == leader; }
};

/// Made, and finished, on all ranks. An error on one is thrown on all.
class StagedSave {
 public:
  /// Makes the stage with `make_stage` on the ranks that lead, and tells the others where it is.
  StagedSave(const Place& place, const std::function<durable::Stage()>& make_stage, const Exchange& exchange);

  /// Where this rank's files are written.
  const std::filesystem::path& path() const { return path_; }
  /// Where they end up.
  const std::filesystem::path& target() const { return target_; }
  /// Tells this save from others; the same on all ranks.
  const std::string& id() const { return id_; }

  /// Writes the files of this rank and, when all ranks have, commits. When it returns all machines have the checkpoint,
  /// and older ones may go. Where the commit of one fails others may have it already: see Checkpointer::newest.
  void finish(const std::vector<CheckpointFile>& files, const std::map<std::string, std::string>& metadata,
              const Exchange& exchange);

 private:
  Place place_;
  std::optional<durable::Stage> stage_;  // on ranks that lead
  std::filesystem::path path_;
  std::filesystem::path target_;
  std::string id_;
  std::vector<int> leaders_;  // of each rank
};

}  // namespace accelerate::checkpoint
