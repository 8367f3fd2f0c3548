#include "accelerate/base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"

namespace accelerate {

namespace {

namespace fs = std::filesystem;

/// " (1.5 MB are free there)", or nothing if unknown. The path itself need not exist.
std::string free_space_at(fs::path path) {
  struct statvfs status{};
  while (statvfs(path.empty() ? "." : path.c_str(), &status) != 0) {
    if (path.empty() || path == path.root_path()) return "";
    path = path.parent_path();
  }
  auto kilobytes = static_cast<uint64_t>(status.f_bavail) * status.f_frsize / 1000;
  return " (" + std::to_string(kilobytes / 1000) + "." + std::to_string(kilobytes / 100 % 10) + " MB are free there)";
}

std::string remedy_for(int error, const fs::path& path) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return free_space_at(path) + "; make room, or choose a directory on another disk";
    case EFBIG:
      return "; the limit on file sizes is too low; raise it with ulimit -f";
    case EACCES:
    case EPERM:
      return "; give user " + std::to_string(geteuid()) + " the permission, or choose another directory";
    case EROFS:
      return "; choose a directory on a file system that can be written to";
    case EBUSY:
      return "; it is a mount point; choose a directory below it";
    case EXDEV:
      return "; it is on a different file system than its parent directory; choose a directory below it";
    case EMFILE:
    case ENFILE:
      return "; raise the limit on open files with ulimit -n";
    case EIO:
      return "; the disk or the connection to it fails; see the system log (dmesg)";
    default:
      return "";
  }
}

}  // namespace

void fail_for_file(const fs::path& path, std::string_view action, int error) {
  fail(path.string(), ": cannot be ", action, ": ", std::strerror(error), remedy_for(error, path));
}

void report_file_size_limit() {
  if (!environment_flag("ACCELERATE_SETUP_SIGXFSZ", true)) return;
  struct sigaction action{};
  sigaction(SIGXFSZ, nullptr, &action);
  if (action.sa_handler == SIG_DFL) signal(SIGXFSZ, SIG_IGN);
}

File File::open(const fs::path& path) { return File(path, O_RDONLY, "opened"); }
File File::create(const fs::path& path) { return File(path, O_WRONLY | O_CREAT | O_TRUNC, "created"); }
File File::create_new(const fs::path& path) { return File(path, O_WRONLY | O_CREAT | O_EXCL, "created"); }
File File::open_directory(const fs::path& path) { return File(path, O_RDONLY | O_DIRECTORY, "opened"); }

File::File(const fs::path& path, int flags, std::string_view action)
    : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (!descriptor_) fail_for_file(path, action);
}

void File::read_at(uint64_t position, char* bytes, size_t size) const {
  while (size > 0) {
    auto done = pread(descriptor(), bytes, size, static_cast<off_t>(position));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_for_file(path_, "read");
    if (done == 0) fail(path_.string(), ": ends at byte ", position, ", but more data was expected");
    bytes += done;
    position += static_cast<uint64_t>(done);
    size -= static_cast<size_t>(done);
  }
}

void File::read_pieces(uint64_t position, uint64_t size, const std::function<void(std::string_view)>& use) const {
  // Page-aligned. A copy runs at a third of the speed if the destination's offset in its page is a few bytes beyond the
  // source's, and malloc's blocks are offset by 16 bytes.
  struct alignas(4096) Piece {
    std::array<char, 128 << 10> bytes;
  };
  const auto piece = std::make_unique_for_overwrite<Piece>();
  while (size > 0) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(size, piece->bytes.size()));
    read_at(position, piece->bytes.data(), part);
    use({piece->bytes.data(), part});
    position += part;
    size -= part;
  }
}

void File::append(std::string_view bytes) const {
  while (!bytes.empty()) {
    auto done = write(descriptor(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_for_file(path_, "written");
    bytes.remove_prefix(static_cast<size_t>(done));
  }
}

void File::flush_to_disk() const {
  if (fsync(descriptor()) != 0) fail_for_file(path_, "written to the disk");
}

uint64_t File::bytes() const {
  struct stat status{};
  if (fstat(descriptor(), &status) != 0) fail_for_file(path_, "read");
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace accelerate
