#pragma once

// The directory for the logs and crash reports of a job's ranks.

#include <filesystem>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate::launch {

/// The directory of one job, readable only by its user, in the layout of torchrun: attempt_<n>/<local rank>/. The
/// launcher holds flock(2) on it, which distinguishes a running job from a crashed one.
class JobDirectory {
 public:
  /// Creates the directory below `log_dir`, keeps it, and points the link `latest` to it. If `log_dir` is empty,
  /// creates it in the system's temporary directory. Throws Error if it cannot be created.
  explicit JobDirectory(const std::string& log_dir);

  /// Creates the directory of a rank if needed and returns its path.
  std::filesystem::path of_rank(int attempt, int local_rank) const;

  const std::filesystem::path& path() const { return path_; }

  /// Removes the directory if it is a temporary one.
  void tidy() const;

 private:
  std::filesystem::path path_;
  bool temporary_;
  Descriptor lock_;
};

/// Whether the launcher of the job in that directory is alive. Also works across containers.
bool is_in_use(const std::filesystem::path& job_directory);

}  // namespace accelerate::launch
