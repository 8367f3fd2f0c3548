#pragma once

// The hidden directory beside a checkpoint in which the next one is made and the last one is taken apart, so that what
// is under a good name is always whole. One process at a time has it.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/durable/directory_lock.h"

namespace accelerate::durable {

/// The one name of a directory: absolute, through all links, and without a slash at the end. It need not be there.
std::filesystem::path real_name(const std::filesystem::path& directory);

/// Has its lock while it lives. What lies in it when a process gets it was left by one that died, and is tidied up, and
/// so are those of other directories beside it that nobody has.
class Workplace {
 public:
  /// Where `out/step_100` is made: `out/.step_100.saving`. Everybody in a process who asks for the same one shares it.
  /// Throws Error naming process and host of whoever else has it, or when it cannot be made.
  static std::shared_ptr<Workplace> for_directory(const std::filesystem::path& directory);

  /// Where all directories below `parent` are made: beside it, because Python expects nothing but checkpoints in it.
  /// Inside, under a name that Python does not mind, when `parent` is a mount point.
  static std::shared_ptr<Workplace> for_directories_below(const std::filesystem::path& parent);

  /// Where the directory called `name` ends up.
  std::filesystem::path target(const std::string& name) const { return home_ / name; }
  /// Where it is made. No other run uses this name: a rank that outlives its job for a moment writes into nobody's
  /// stage.
  std::filesystem::path unfinished(const std::string& name) const { return path_ / (name + "." + run_ + ".new"); }

  /// Puts the unfinished directory in the place of its target, in one step, so that at each moment a whole one is under
  /// that name, also after a crash. Files of an old target that its manifest does not list are the user's and stay.
  /// Throws Error naming the target, which is then as it was.
  void put_in_place(const std::string& name) const;

  /// Removes a target. It first gets out of sight as a whole, so that a crash leaves no half of it under its name.
  /// Throws Error when that fails.
  void remove(const std::string& name) const;

 private:
  Workplace(std::filesystem::path path, std::filesystem::path home, const std::filesystem::path& subject);
  static std::shared_ptr<Workplace> shared(const std::filesystem::path& path, const std::filesystem::path& home,
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
  std::string run_;  // told apart from other runs by chance
  DirectoryLock lock_;
};

/// Ends the replacement of a directory that a crash has interrupted: the user's files in the old one come back to where
/// they were. The old one as a whole comes back where nothing is under the name, which can only be where the file
/// system does not know how to exchange two directories; Error where that fails. Does nothing while somebody saves
/// there.
void restore(const std::filesystem::path& directory);

}  // namespace accelerate::durable
