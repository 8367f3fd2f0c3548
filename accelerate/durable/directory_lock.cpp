#include "accelerate/durable/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/base/file_lock.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/log.h"

namespace accelerate::durable {

namespace {

namespace fs = std::filesystem;

std::string this_process() { return "process " + std::to_string(getpid()) + " on " + host_name(); }

/// The content of a lock file, written by its holder.
std::string holder_in(int descriptor) {
  std::array<char, 512> text{};
  auto size = pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : "another process";
}

/// Locks a file; retries for a moment, because is_abandoned() holds locks briefly. Returns false with errno on failure.
bool lock_soon(int descriptor) {
  constexpr auto kMoment = std::chrono::milliseconds(20);
  constexpr int kMoments = 10;
  for (int i = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK || i == kMoments) return false;
    std::this_thread::sleep_for(kMoment);
  }
  return true;
}

}  // namespace

bool is_abandoned(const fs::path& directory) {
  const Descriptor file(open((directory / "lock").c_str(), O_RDWR | O_CLOEXEC));
  if (!file || !holder_in(file.get()).ends_with(" on " + host_name())) return false;
  return flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

DirectoryLock::DirectoryLock(fs::path directory, const fs::path& subject)
    : directory_(std::move(directory)), file_(directory_ / "lock") {
  while (!try_once(subject)) {
  }
}

/// Returns false if the directory disappeared meanwhile because the previous holder has just released it.
bool DirectoryLock::try_once(const fs::path& subject) {
  if (mkdir(directory_.c_str(), 0777) != 0 && errno != EEXIST) fail_for_file(directory_, "created");
  int descriptor = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno == ENOENT) return false;
  if (descriptor < 0) fail_for_file(file_, "created");
  if (!lock_soon(descriptor)) {
    int error = errno;
    if (error == EWOULDBLOCK) {
      auto holder = holder_in(descriptor);
      close(descriptor);
      fail(subject.string(), ": ", holder, " is saving here; wait until it has finished, or choose another directory");
    }
    get_logger("accelerate.durable")
        .warning_once(file_.string() + ": this file system has no locks (" + std::strerror(error) +
                      "), so make sure that no other job saves to " + subject.string());
  }
  if (!is_at(descriptor, file_)) {
    close(descriptor);
    return false;
  }
  // This fails on a full disk. The lock is held anyway; only the error of another process cannot name the holder.
  auto self = this_process();
  if (ftruncate(descriptor, 0) == 0 && pwrite(descriptor, self.data(), self.size(), 0) < 0) errno = 0;
  descriptor_ = descriptor;
  return true;
}

DirectoryLock::~DirectoryLock() {
  if (is_alone()) {
    // Before the lock is released: a process that gets the lock of the removed file sees with is_at() that it is
    // removed.
    unlink(file_.c_str());
    rmdir(directory_.c_str());
  }
  close(descriptor_);
}

/// Whether nothing else is in the directory.
bool DirectoryLock::is_alone() const {
  std::error_code error;
  for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path() != file_) return false;
  }
  return true;
}

}  // namespace accelerate::durable
