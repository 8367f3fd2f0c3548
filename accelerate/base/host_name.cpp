#include "accelerate/base/host_name.h"

#include <unistd.h>

#include <fstream>

namespace accelerate {

std::string host_name() {
  char name[256] = {};  // HOST_NAME_MAX is 64
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

std::optional<std::string> boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  return std::getline(file, id) ? std::optional(id) : std::nullopt;
}

}  // namespace accelerate
