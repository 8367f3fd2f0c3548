// Makes one of a program's calls that change a disk fail, or ends the program there. Preloaded into it, by variables:
//
//   FAULT_AT=7 FAULT_ERROR=28   the seventh such call fails with error number 28
//   FAULT_AT=7 FAULT_ERROR=0    the program is killed instead of making the call
//   FAULT_COUNT=1               says at the end how many such calls there were
//   FAULT_NO_EXCHANGE=1         the file system cannot exchange two directories
//
// Linked into it, by the functions of failing_calls.h.

#include "tests/support/failing_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace {

int number_in(const char* variable) {
  const char* text = getenv(variable);
  return text != nullptr ? atoi(text) : -1;
}

std::atomic<int> calls = 0;
std::atomic<int> fault_at = number_in("FAULT_AT");
std::atomic<int> fault_error = number_in("FAULT_ERROR");

/// Whether this call is the one to fail; errno is then set.
bool is_faulty() {
  if (++calls != fault_at) return false;
  if (fault_error == 0) kill(getpid(), SIGKILL);
  errno = fault_error;
  return true;
}

/// Not what is said to another process, nor to a terminal.
bool is_on_disk(int fd) {
  struct stat file{};
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
}

[[gnu::destructor]] void tell_count() {
  if (getenv("FAULT_COUNT") != nullptr) dprintf(STDERR_FILENO, "calls %d\n", calls.load());
}

template <class Function>
Function* next(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace accelerate::tests {

void fail_call(int number, int error) {
  fault_error = error;
  fault_at = number;
  calls = 0;
}

int calls_so_far() { return calls; }

}  // namespace accelerate::tests

// Passes a call on to the system's own function unless it is the faulty one.
#define ACCELERATE_FAULTY(result, name, parameters, arguments) \
  extern "C" result name parameters {                          \
    if (is_faulty()) return -1;                                \
    return next(#name, &name) arguments;                       \
  }

ACCELERATE_FAULTY(int, fsync, (int fd), (fd))
ACCELERATE_FAULTY(int, mkdir, (const char* path, mode_t mode), (path, mode))
ACCELERATE_FAULTY(int, rename, (const char* from, const char* to), (from, to))
ACCELERATE_FAULTY(int, remove, (const char* path), (path))
ACCELERATE_FAULTY(int, unlink, (const char* path), (path))
ACCELERATE_FAULTY(int, unlinkat, (int fd, const char* path, int flags), (fd, path, flags))
ACCELERATE_FAULTY(ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t at), (fd, bytes, size, at))

extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
  if (is_on_disk(fd) && is_faulty()) return -1;
  return next("write", &write)(fd, bytes, size);
}

extern "C" int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  auto mode = va_arg(rest, mode_t);
  va_end(rest);
  if ((flags & O_CREAT) != 0 && is_faulty()) return -1;
  return next("open", &open)(path, flags, mode);
}

extern "C" int renameat2(int from_fd, const char* from, int to_fd, const char* to, unsigned flags) {
  if (getenv("FAULT_NO_EXCHANGE") != nullptr) {
    errno = EINVAL;
    return -1;
  }
  if (is_faulty()) return -1;
  return next("renameat2", &renameat2)(from_fd, from, to_fd, to, flags);
}
