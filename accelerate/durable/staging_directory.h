#pragma once

// Staging directory next to a checkpoint. New checkpoints are written here and renamed into place; old ones are moved
// here and deleted. A directory under its final name is therefore always complete. One process at a time holds it.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/durable/directory_lock.h"

namespace accelerate::durable {

/// The canonical path: absolute, with symbolic links resolved and no trailing slash. The directory need not exist.
std::filesystem::path real_name(const std::filesystem::path& directory);

/// Holds the lock of the staging directory for its lifetime. Opening it cleans up after processes that died: its own
/// content and abandoned staging directories next to it.
class StagingDirectory {
 public:
  /// The staging directory of `out/step_100` is `out/.step_100.saving`. Callers in one process share one object.
  /// Throws Error if it cannot be created, or if another process holds it; the message names process and host.
  static std::shared_ptr<StagingDirectory> for_directory(const std::filesystem::path& directory);

  /// One staging directory for all directories below `parent`. It is a sibling of `parent`, because Python expects only
  /// checkpoints inside. If `parent` is a mount point, or its parent directory is not writable, it is inside, under a
  /// name that Python ignores.
  static std::shared_ptr<StagingDirectory> for_directories_below(const std::filesystem::path& parent);

  /// The final path of the directory `name`.
  std::filesystem::path target(const std::string& name) const { return home_ / name; }
  /// Its path while it is written. The name is unique to this run, so a rank that outlives its job cannot write into
  /// the directory of the next job.
  std::filesystem::path unfinished(const std::string& name) const { return path_ / (name + "." + run_ + ".new"); }

  /// Replaces the target by the unfinished directory atomically (renameat2 with RENAME_EXCHANGE): a crash leaves the
  /// old directory or the new one. Top-level entries of the old target that its manifest does not list belong to the
  /// user and are kept. If it throws Error, the target is either the complete old directory or the complete new one.
  void put_in_place(const std::string& name) const;

  /// Removes a target. It is renamed into the staging directory first, so a crash cannot leave a partial directory
  /// under the target's name. Throws Error on failure.
  void remove(const std::string& name) const;

 private:
  StagingDirectory(std::filesystem::path path, std::filesystem::path home, const std::filesystem::path& subject);
  static std::shared_ptr<StagingDirectory> shared(const std::filesystem::path& path, const std::filesystem::path& home,
                                                  const std::filesystem::path& subject);

  std::filesystem::path old(const std::string& name) const { return path_ / (name + ".old"); }
  void tidy() const;
  void tidy_others() const;
  void take_leftovers(const std::filesystem::path& other, std::vector<std::filesystem::path>& taken) const;
  void replace_target(const std::string& name) const;
  void retire_old(const std::string& name) const;
  void discard(const std::filesystem::path& directory) const;

  std::filesystem::path path_;
  std::filesystem::path home_;
  std::string run_;  // random, unique to this run
  DirectoryLock lock_;
};

/// Finishes a replacement that a crash interrupted: moves the user's files from the old directory into the new one.
/// Does nothing while another process saves there, and warns if it fails. If `directory` does not exist, moves the old
/// directory back, or throws Error if that fails or another process saves there. This can only happen on file systems
/// without RENAME_EXCHANGE.
void restore(const std::filesystem::path& directory);

}  // namespace accelerate::durable
