#pragma once

// One process at a time: a directory with a lock in it.

#include <filesystem>

namespace accelerate::durable {

/// Holds flock on the file `lock` in a directory that it makes for this purpose. The system lets go of it when the
/// process dies, however it dies. Where a file system knows no locks there is a warning and no protection.
class DirectoryLock {
 public:
  /// Throws Error that says which process on which host uses `subject` when another one keeps the lock.
  DirectoryLock(std::filesystem::path directory, const std::filesystem::path& subject);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  /// Removes the directory. Where something else is in it, both stay: the file says who has left it.
  ~DirectoryLock();

 private:
  bool try_once(const std::filesystem::path& subject);
  bool is_alone() const;

  std::filesystem::path directory_;
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// Whether a directory was left by a process of this machine that is gone: nobody has its lock. Where locks may not
/// reach, on other machines and on file systems without them, nobody knows, and it was not. The same goes for a
/// directory that has no lock.
bool is_abandoned(const std::filesystem::path& directory);

}  // namespace accelerate::durable
