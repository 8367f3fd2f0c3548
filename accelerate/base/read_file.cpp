#include "accelerate/base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/file.h"

namespace accelerate {

namespace {

constexpr size_t kLeastPart = 4096;

/// Reads to the end of the file. Returns 0 or the errno.
int read_to_end(int descriptor, std::string& text) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return errno;
  // One byte more than the file size, so that its end shows without growing the buffer.
  text.resize(std::max(static_cast<size_t>(status.st_size) + 1, kLeastPart));
  for (size_t size = 0;;) {
    if (size == text.size()) text.resize(2 * size);
    auto done = read(descriptor, text.data() + size, text.size() - size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) {
      text.resize(size);
      return 0;
    }
    size += static_cast<size_t>(done);
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  auto file = File::open(path);
  std::string text;
  if (int error = read_to_end(file.descriptor(), text)) fail_for_file(path, "read", error);
  return text;
}

std::optional<std::string> read_file_if_there(const std::filesystem::path& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!descriptor || read_to_end(descriptor.get(), text) != 0) return std::nullopt;
  return text;
}

}  // namespace accelerate
