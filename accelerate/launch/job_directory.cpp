#include "accelerate/launch/job_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

JobDirectory::JobDirectory(const std::string& log_dir) : temporary_(log_dir.empty()) {
  std::error_code error;
  if (!temporary_) fs::create_directories(log_dir, error);
  if (error) fail("--log_dir ", log_dir, " cannot be created: ", error.message());
  auto pattern =
      (temporary_ ? fs::temp_directory_path() / "accelerate_launch_XXXXXX" : fs::path(log_dir) / "none_XXXXXX")
          .string();
  if (mkdtemp(pattern.data()) == nullptr) {
    fail(temporary_ ? "" : "--log_dir: ", "the directory ", pattern, " cannot be created: ", std::strerror(errno));
  }
  path_ = fs::absolute(pattern);
  if (temporary_) return;
  fs::remove(fs::path(log_dir) / "latest", error);
  fs::create_directory_symlink(path_.filename(), fs::path(log_dir) / "latest", error);
}

fs::path JobDirectory::of_rank(int attempt, int local_rank) const {
  auto path = path_ / ("attempt_" + std::to_string(attempt)) / std::to_string(local_rank);
  fs::create_directories(path);
  return path;
}

void JobDirectory::tidy() const {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

}  // namespace accelerate::launch
