#pragma once

// A directory that one process at a time may use, protected by a lock file.

#include <filesystem>

namespace accelerate::durable {

/// Creates a directory and holds flock(2) on the file `lock` in it. The kernel releases the lock when the process dies.
/// On file systems without locks it warns and gives no protection.
class DirectoryLock {
 public:
  /// Throws Error if another process keeps the lock; the message says which process on which host uses `subject`.
  DirectoryLock(std::filesystem::path directory, const std::filesystem::path& subject);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  /// Removes the directory. If other files are in it, both stay: the lock file says which process left them.
  ~DirectoryLock();

 private:
  bool try_once(const std::filesystem::path& subject);
  bool is_alone() const;

  std::filesystem::path directory_;
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// Whether a dead process of this machine left the directory: its lock file is there and not locked. Returns false if
/// that cannot be known: the process ran on another machine, the file system has no locks, or there is no lock file.
bool is_abandoned(const std::filesystem::path& directory);

}  // namespace accelerate::durable
