#pragma once

// A directory in the making. Ranks write files into it; then one step puts it, whole and on the disk, under its name.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/durable/manifest.h"
#include "accelerate/durable/workplace.h"

namespace accelerate::durable {

/// Made by one rank, which sends path() to the others. Every rank writes its files below path(), seals them (seal.h)
/// and sends the records back; when all have succeeded the first rank commits.
///
///   Stage stage("runs/bert/step_100");
///   SealedFile notes(stage.path(), "notes.txt");
///   notes.append("after 100 steps");
///   stage.commit({notes.seal()});
///
/// A crash at any moment leaves the directory that was there before, or the new one. Without commit() the target stays
/// as it was and the stage is removed.
class Stage {
 public:
  /// Makes the directories on the way, too. Throws Error when another process saves to the same target, or when the
  /// target cannot be one: a file, or the current directory, which is not to be replaced under a running program.
  explicit Stage(const std::filesystem::path& target);

  /// The same in a workplace that is open already.
  Stage(std::shared_ptr<Workplace> workplace, const std::string& name);

  Stage(Stage&&) = default;
  Stage& operator=(Stage&&) = delete;
  ~Stage();

  /// Where to write; absolute, so that it means the same to every rank.
  const std::filesystem::path& path() const { return path_; }
  /// What it becomes.
  std::filesystem::path target() const { return workplace_->target(name_); }

  /// Files in the stage that no record names, such as those of a user's hook, are sealed here. Returns when the
  /// directory is under its name on the disk. Throws Error, when a file of `records` is missing or cannot be put on the
  /// disk; the target is then as it was before.
  void commit(std::vector<FileRecord> records, std::map<std::string, std::string> metadata = {});

 private:
  std::shared_ptr<Workplace> workplace_;  // empty once moved from
  std::string name_;
  std::filesystem::path path_;
  bool committed_ = false;
};

}  // namespace accelerate::durable
