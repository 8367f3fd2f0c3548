#include "accelerate/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/file_lock.h"
#include "accelerate/base/host_name.h"

namespace accelerate {

namespace fs = std::filesystem;

namespace {

/// The parent directory of a path, never empty.
fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Follows a symbolic link: renaming onto the link would replace the link and leave the file unchanged.
fs::path target_of(const fs::path& path) {
  std::error_code error;
  auto target = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
  return error ? path : target;
}

bool is_a_directory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The suffix of files that are locked by their writers.
constexpr std::string_view kLocked = ".locked";

/// Creates a file and locks it, so that other processes see that it is in use.
File create_locked(const fs::path& path) {
  for (;;) {
    auto file = File::create_new(path);
    while (flock(file.descriptor(), LOCK_EX) != 0 && errno == EINTR) {
    }
    if (is_at(file.descriptor(), path)) return file;  // else it was removed as abandoned before it was locked
  }
}

/// Removes unfinished files that dead processes of this machine have left in a directory. Keeps those of other
/// machines, because locks may not work across machines.
void remove_abandoned(const fs::path& directory) {
  const auto of_this_machine = "-" + host_name() + "-";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(kLocked) || name.find(of_this_machine) == std::string::npos) continue;
    const Descriptor file(open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
    if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
  }
}

}  // namespace

fs::path unfinished_path(const fs::path& path) {
  // A process id is unique only on its machine, and often the same in different containers.
  auto owner = std::to_string(getpid()) + "-" + host_name() + "-" + std::to_string(std::random_device{}());
  return parent_of(path) / ("." + path.filename().string() + ".unfinished-" + owner);
}

AtomicFile::AtomicFile(const fs::path& path) : path_(target_of(path)), temporary_(unfinished_path(path_) += kLocked) {
  remove_abandoned(parent_of(path_));
  file_ = create_locked(temporary_);
  struct stat before{};
  if (stat(path_.c_str(), &before) == 0) fchmod(file_->descriptor(), before.st_mode & 07777);  // if modes are supported
}

AtomicFile::~AtomicFile() {
  if (file_) unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  file_->flush_to_disk();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_for_file(path_, "replaced");
  file_.reset();
  sync_directory(parent_of(path_));
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.append(content);
  file.commit();
}

void make_directories(const fs::path& path) {
  if (path.empty() || is_a_directory(path)) return;
  make_directories(path.parent_path());
  if (mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST && is_a_directory(path)) return;  // another process created it first
    fail_for_file(path, "created");
  }
  sync_directory(parent_of(path));
}

void sync_directory(const fs::path& path) { File::open_directory(path).flush_to_disk(); }

}  // namespace accelerate
