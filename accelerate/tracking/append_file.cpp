#include "accelerate/tracking/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/file.h"
#include "accelerate/base/read_file.h"

namespace accelerate::tracking {

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)) {
  report_file_size_limit();
  make_directories(path_.parent_path());
  descriptor_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor_) fail_for_file(path_, "opened");
}

void AppendFile::append(std::string_view bytes) {
  const auto size_before = static_cast<off_t>(this->bytes());
  // One write suffices. After a partial write, the second one reports the error.
  for (auto rest = bytes; !rest.empty();) {
    const auto written = ::write(descriptor_.get(), rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    int error = errno;
    if (rest.size() < bytes.size() && ::ftruncate(descriptor_.get(), size_before) != 0) error = errno;
    fail_for_file(path_, "written", error);
  }
}

uint64_t AppendFile::bytes() const {
  const auto end = ::lseek(descriptor_.get(), 0, SEEK_END);
  if (end < 0) fail_for_file(path_, "read");
  return static_cast<uint64_t>(end);
}

std::string drop_torn_line(const std::filesystem::path& path) {
  auto bytes = read_file_if_there(path).value_or("");
  auto whole = bytes.rfind('\n') + 1;  // npos + 1 is 0: no complete line
  if (whole < bytes.size() && ::truncate(path.c_str(), static_cast<off_t>(whole)) != 0) fail_for_file(path, "repaired");
  bytes.resize(whole);
  return bytes;
}

}  // namespace accelerate::tracking
