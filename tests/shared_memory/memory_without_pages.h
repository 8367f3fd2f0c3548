#pragma once

// Memory that the kernel refuses, as on a machine that has none left.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"

namespace accelerate::tests {

/// A number of /proc/meminfo.
inline size_t memory_info(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    size_t number = 0;
    if (word == name + ":" && file >> number) return number;
  }
  fail("/proc/meminfo has no ", name);
}

/// What another rank could have sent as its memory, but of huge pages, and of more than this machine has: it can be
/// mapped, the kernel has nothing to put behind it, and touching it raises SIGBUS.
inline Descriptor memory_without_pages() {
  Descriptor descriptor(memfd_create("without pages", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  const size_t bytes = (memory_info("HugePages_Total") + 1) * memory_info("Hugepagesize") * 1024;
  if (!descriptor || ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    fail("memory of huge pages cannot be made: ", std::strerror(errno));
  }
  return descriptor;
}

}  // namespace accelerate::tests
