#pragma once

// Where the ranks of a job leave their logs and the reports of crashes.

#include <filesystem>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate::launch {

/// A directory for one job, readable by its user alone, in the layout of torchrun: attempt_<n>/<local rank>/. It is
/// locked (flock) while the launcher lives, so that others can tell a job that runs from one that has crashed.
class JobDirectory {
 public:
  /// Below `log_dir`, where it stays and a link `latest` points to it, or with an empty one in the system's directory
  /// for temporary files. Throws Error when it cannot be made.
  explicit JobDirectory(const std::string& log_dir);

  /// Makes the directory of a rank, if need be, and returns its path.
  std::filesystem::path of_rank(int attempt, int local_rank) const;

  const std::filesystem::path& path() const { return path_; }

  /// Removes a temporary directory; does nothing to one that stays.
  void tidy() const;

 private:
  std::filesystem::path path_;
  bool temporary_;
  Descriptor lock_;
};

/// Whether the launcher of the job in that directory still lives, also if it is in another container.
bool is_in_use(const std::filesystem::path& job_directory);

}  // namespace accelerate::launch
