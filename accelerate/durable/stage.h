#pragma once

// A directory that is written by all ranks and then committed atomically under its final name.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/durable/manifest.h"
#include "accelerate/durable/staging_directory.h"

namespace accelerate::durable {

/// One rank creates it and sends path() to the others. Every rank writes its files below path(), seals them (seal.h)
/// and sends the records back. If all succeeded, the first rank commits.
///
///   Stage stage("runs/bert/step_100");
///   SealedFile notes(stage.path(), "notes.txt");
///   notes.append("after 100 steps");
///   stage.commit({notes.seal()});
///
/// A crash at any moment leaves the old directory or the new one. Without commit() the target is unchanged and the
/// stage is removed.
class Stage {
 public:
  /// Creates parent directories as needed. Throws Error if another process saves to the same target, or if the target
  /// is a file or the current directory, which must not be replaced under a running program.
  explicit Stage(const std::filesystem::path& target);

  /// The same in a staging directory that is open already.
  Stage(std::shared_ptr<StagingDirectory> staging, const std::string& name);

  Stage(Stage&&) = default;
  Stage& operator=(Stage&&) = delete;
  ~Stage();

  /// The directory to write to. The path is absolute, so it means the same to every rank.
  const std::filesystem::path& path() const { return path_; }
  /// The final path.
  std::filesystem::path target() const { return staging_->target(name_); }

  /// Seals files that no record names, such as those of a user's hook, and renames the stage to its target. Returns
  /// when the directory is durable under that name. Throws Error if a file of `records` is missing or cannot be flushed
  /// to disk; the target is then unchanged.
  void commit(std::vector<FileRecord> records, std::map<std::string, std::string> metadata = {});

 private:
  std::shared_ptr<StagingDirectory> staging_;  // empty once moved from
  std::string name_;
  std::filesystem::path path_;
  bool committed_ = false;
};

}  // namespace accelerate::durable
