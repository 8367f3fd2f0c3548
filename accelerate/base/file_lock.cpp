#include "accelerate/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace accelerate {

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code not_made;
  std::filesystem::create_directories(path_.parent_path(), not_made);
  file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  while (file_ && ::flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

FileLock::~FileLock() {
  // Before it is closed: those who wait for this very file are let in one by one, and who comes later makes a new one.
  std::error_code gone;
  if (file_) std::filesystem::remove(path_, gone);
}

}  // namespace accelerate
