#include "accelerate/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace accelerate {

bool is_at(int descriptor, const std::filesystem::path& path) {
  struct stat open{}, named{};
  return fstat(descriptor, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  while (!try_once()) {
  }
}

/// Returns false if the previous holder has removed the file meanwhile: another file may be at the path by now.
bool FileLock::try_once() {
  std::error_code not_made;
  std::filesystem::create_directories(path_.parent_path(), not_made);
  file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file_) return true;
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return true;
  }
  return is_at(file_.get(), path_);
}

FileLock::~FileLock() {
  // Removed under the lock: a waiter then sees that its file is no longer at the path.
  std::error_code gone;
  if (file_) std::filesystem::remove(path_, gone);
}

}  // namespace accelerate
