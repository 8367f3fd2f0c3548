#include "accelerate/shared_memory/segment.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "accelerate/base/error.h"

namespace accelerate::shared_memory {

namespace {

/// Returns 0 or the error number. Beyond the limit on file sizes (ulimit -f) the kernel also sends SIGXFSZ, which would
/// end the process. It is blocked here only: report_file_size_limit() would change it for the whole program.
int set_size(int fd, size_t bytes) {
  sigset_t too_large{}, before{};
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &too_large, &before);
  const int error = ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  const timespec at_once{};
  if (error == EFBIG) sigtimedwait(&too_large, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

Segment::Segment(size_t capacity)
    : descriptor_(memfd_create("accelerate", MFD_CLOEXEC | MFD_ALLOW_SEALING)), capacity_(capacity) {
  if (!descriptor_) fail("shared memory cannot be created: memfd_create: ", std::strerror(errno));
  if (const int error = set_size(descriptor_.get(), capacity)) {
    fail("shared memory of ", capacity, " bytes cannot be created: ", std::strerror(error));
  }
  // If a peer could shrink the segment, an access beyond its end would raise SIGBUS.
  fcntl(descriptor_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  map(descriptor_.get());
}

Segment::Segment(const Descriptor& descriptor) { open(descriptor.get()); }

Segment::Segment(Descriptor&& descriptor) : descriptor_(std::move(descriptor)) { open(descriptor_.get()); }

Segment::~Segment() { munmap(data_, capacity_); }

void Segment::open(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) fail("shared memory cannot be opened: ", std::strerror(errno));
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) fail("the file descriptor from another rank is not our shared memory");
  capacity_ = static_cast<size_t>(status.st_size);
  map(fd);
}

void Segment::map(int fd) {
  void* address = mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) fail("shared memory of ", capacity_, " bytes cannot be mapped: ", std::strerror(errno));
  data_ = static_cast<std::byte*>(address);
  madvise(data_, capacity_, MADV_DONTDUMP);
}

void Segment::commit(size_t offset, size_t bytes) {
  int error = 0;
  do {
    error = fallocate(descriptor_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error != 0) {
    fail("the ranks of this machine need ", bytes, " more bytes of shared memory: ", std::strerror(error),
         "; free memory, raise the limit of the container, or use ACCELERATE_COMM=gloo");
  }
#ifdef MADV_POPULATE_WRITE
  madvise(data_ + offset, bytes, MADV_POPULATE_WRITE);  // avoids page faults later; kernels before 5.14 ignore it
#endif
}

void Segment::release(size_t offset, size_t bytes) {
  fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
}

void Segment::make_private() {
  // Mapped at a new address and then moved: if there is not enough memory, the old mapping stays.
  void* address = mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor_.get(), /*offset=*/0);
  if (address == MAP_FAILED) fail("shared memory of ", capacity_, " bytes cannot be kept: ", std::strerror(errno));
  if (mremap(address, capacity_, capacity_, MREMAP_MAYMOVE | MREMAP_FIXED, data_) == MAP_FAILED) {
    const int error = errno;
    munmap(address, capacity_);
    fail("shared memory of ", capacity_, " bytes cannot be kept: ", std::strerror(error));
  }
}

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void release_pages(std::byte* data, size_t bytes) { madvise(data, bytes, MADV_REMOVE); }

void commit_pages(std::byte* data, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const size_t before = reinterpret_cast<uintptr_t>(data) % page_bytes();
  if (madvise(data - before, before + bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL) return;
  // The kernel returns EFAULT if a page cannot be allocated.
  const char* reason = std::strerror(errno == EFAULT ? ENOMEM : errno);
  fail("shared memory of ", bytes, " bytes that was returned to the system cannot be allocated again: ", reason,
       "; free memory, or raise the limit of the container");
#endif
}

}  // namespace accelerate::shared_memory
