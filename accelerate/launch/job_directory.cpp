#include "accelerate/launch/job_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/base/user_directories.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

/// The system's temporary directory. Throws Error if it does not exist.
fs::path existing_temporary_directory() {
  const auto [path, variable] = temporary_directory();
  std::error_code error;
  if (fs::is_directory(path, error)) return path;
  if (!error) error = std::make_error_code(std::errc::not_a_directory);
  if (variable.empty()) {
    fail("there is no directory for temporary files: ", path.string(), ": ", error.message(), "; set TMPDIR to one");
  }
  fail(variable, " is '", path.string(), "', which is not a usable directory (", error.message(),
       "); the ranks write crash reports there. Unset it, or set it to a directory");
}

Descriptor open_directory(const fs::path& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

JobDirectory::JobDirectory(const std::string& log_dir) : temporary_(log_dir.empty()) {
  std::error_code error;
  if (!temporary_) fs::create_directories(log_dir, error);
  if (error) fail("--log_dir ", log_dir, " cannot be created: ", error.message());
  auto pattern =
      (temporary_ ? existing_temporary_directory() / "accelerate_launch_XXXXXX" : fs::path(log_dir) / "none_XXXXXX")
          .string();
  if (mkdtemp(pattern.data()) == nullptr) {
    fail(temporary_ ? "" : "--log_dir: ", "the directory ", pattern, " cannot be created: ", std::strerror(errno));
  }
  path_ = fs::absolute(pattern);
  lock_ = open_directory(path_);
  flock(lock_.get(), LOCK_SH);
  if (temporary_) return;
  fs::remove(fs::path(log_dir) / "latest", error);
  fs::create_directory_symlink(path_.filename(), fs::path(log_dir) / "latest", error);
}

fs::path JobDirectory::of_rank(int attempt, int local_rank) const {
  auto path = path_ / ("attempt_" + std::to_string(attempt)) / std::to_string(local_rank);
  fs::create_directories(path);
  return path;
}

bool is_in_use(const fs::path& job_directory) {
  auto directory = open_directory(job_directory);
  return directory && flock(directory.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

void JobDirectory::tidy() const {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

}  // namespace accelerate::launch
