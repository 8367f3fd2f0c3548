#pragma once

// One save in a staging directory, written by all ranks and then committed.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/file.h"
#include "accelerate/comm/agreement.h"
#include "accelerate/durable/stage.h"

namespace accelerate::checkpoint {

/// One file of a checkpoint, to be written.
struct CheckpointFile {
  std::string name = {};
  std::function<void(const Append& append)> write = {};
};

/// This rank and its leader, the rank that creates the directory it writes to: rank 0, or the first rank of each
/// machine if machines share no disk.
struct RankAndLeader {
  int rank = 0;
  int leader = 0;

  bool leads() const { return rank == leader; }
};

/// The constructor and finish() are collective. An Error on one rank is thrown on all.
class StagedSave {
 public:
  /// Calls `make_stage` on the leaders and sends the path to the other ranks.
  StagedSave(const RankAndLeader& ranks, const std::function<durable::Stage()>& make_stage,
             const comm::Exchange& exchange);

  /// The staging directory of this rank's files.
  const std::filesystem::path& path() const { return path_; }
  /// The directory of the committed checkpoint.
  const std::filesystem::path& target() const { return target_; }
  /// Identifies this save. The same on all ranks.
  const std::string& id() const { return id_; }

  /// Writes the files of this rank; when all ranks have written theirs, the leaders commit. When it returns, all
  /// machines have the checkpoint and older ones may be removed. If the commit fails on one machine, others may have
  /// committed already: see Checkpointer::newest.
  void finish(const std::vector<CheckpointFile>& files, const std::map<std::string, std::string>& metadata,
              const comm::Exchange& exchange);

 private:
  RankAndLeader ranks_;
  std::optional<durable::Stage> stage_;  // only on leaders
  std::filesystem::path path_;
  std::filesystem::path target_;
  std::string id_;
  std::vector<int> leaders_;  // by rank
};

}  // namespace accelerate::checkpoint
